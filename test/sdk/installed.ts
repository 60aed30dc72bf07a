/** Somebody who has installed the package: a folder with it and its companions in node_modules, and a program to run. */
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { PROGRAM } from '../support/exec-world.js';

export const CHECKOUT = path.join(import.meta.dirname, '../..');

/** Makes `folder` such a place. */
export function install(folder: string): void {
  const modules = path.join(folder, 'node_modules');
  for (const name of ['zod', '@modelcontextprotocol/client', '@openai/codex-sdk', '@types/node']) {
    link(path.join(CHECKOUT, 'node_modules', name), path.join(modules, name));
  }
  link(CHECKOUT, path.join(modules, 'open-interpreter'));
  link(PROGRAM, path.join(modules, '.bin/interpreter'));
}

/** Copies a file of the checkout into `folder` and returns its new path. */
export function copyInto(folder: string, file: string): string {
  const target = path.join(folder, path.basename(file));
  copyFileSync(path.join(CHECKOUT, file), target);
  return target;
}

function link(target: string, place: string): void {
  mkdirSync(path.dirname(place), { recursive: true });
  if (!existsSync(place)) symlinkSync(target, place);
}
