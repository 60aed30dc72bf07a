/** All processes that one command has started, found and ended. */
import { hasCode } from '../util/index.js';
import { hasEnvironment, hasProcessTable, type ProcessInfo, readProcess, readProcesses } from './process-table.js';

/** The variable by which our commands are recognised even when they have left their group, session and parent. */
export const MARKER_VARIABLE = 'OPEN_INTERPRETER_COMMAND';

export type ProcessTree = {
  /** The first process; it leads a session and a group of the same number. */
  readonly pid: number;
  /** Null when it was gone before it could be looked up, and on platforms without /proc. */
  readonly startTime: string | null;
  /** The value of `MARKER_VARIABLE` of this command. */
  readonly marker: string;
  /** The first process is the sandbox: its end is KILL for the rest, so it gets no other signal. */
  readonly isSandbox: boolean;
  /** What was left of the group when the first process ended: proof that the group is still the same one. */
  remaining: readonly Pick<ProcessInfo, 'pid' | 'startTime'>[] | null;
};

export function makeTree(pid: number, marker: string, isSandbox: boolean): ProcessTree {
  return { pid, marker, isSandbox, startTime: readProcess(pid)?.startTime ?? null, remaining: null };
}

/** Called when the first process has ended. Returns true when others of its group go on. */
export function noteEnd(tree: ProcessTree): boolean {
  if (!signalGroup(tree.pid, 0)) {
    tree.remaining = [];
    return false;
  }
  if (hasProcessTable()) tree.remaining = readProcesses().filter(p => p.group === tree.pid && !p.zombie);
  return true;
}

/** The living processes of these trees, without zombies. One look at the process table for all of them. */
function findMembers(trees: readonly ProcessTree[]): ProcessInfo[] {
  const all = readProcesses();
  const members = new Map<number, ProcessInfo>();
  for (const tree of trees) {
    for (const info of all) if (belongsTo(tree, info, all)) members.set(info.pid, info);
  }
  addDescendants(all, members);
  return [...members.values()].filter(p => !p.zombie);
}

/** Sends a signal to all members, a group at once where that is possible. Returns the members. Never throws. */
export function signalTree(trees: readonly ProcessTree[], signal: NodeJS.Signals): ProcessInfo[] {
  const members = findMembers(trees);
  const spared = new Set(signal === 'SIGKILL' ? [] : trees.filter(tree => tree.isSandbox).map(tree => tree.pid));
  for (const tree of trees) if (tree.remaining === null && !spared.has(tree.pid)) signalGroup(tree.pid, signal);
  for (const member of members) if (!spared.has(member.pid)) signalProcess(member.pid, signal);
  return members;
}

/** True when no member is left, as far as this platform can tell. */
export function isGone(tree: ProcessTree): boolean {
  return hasProcessTable() ? findMembers([tree]).length === 0 : !signalGroup(tree.pid, 0);
}

/** `process.kill`, false when there is nobody to be signalled. */
function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // EPERM: a set-uid program runs there; it exists but is out of our reach.
    return hasCode(error, 'EPERM');
  }
}

export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  // Windows has no groups.
  return signalProcess(process.platform === 'win32' ? pid : -pid, signal);
}

function belongsTo(tree: ProcessTree, info: ProcessInfo, all: readonly ProcessInfo[]): boolean {
  if (info.pid === tree.pid && info.startTime === tree.startTime) return true;
  if ((info.session === tree.pid || info.group === tree.pid) && isSameGroup(tree, all)) return true;
  if (tree.startTime !== null && isOlder(info.startTime, tree.startTime)) return false;
  return hasEnvironment(info.pid, `${MARKER_VARIABLE}=${tree.marker}`);
}

/** A number is not given away while its group has members; after that it may be anybody's. */
function isSameGroup(tree: ProcessTree, all: readonly ProcessInfo[]): boolean {
  if (tree.remaining === null) return true;
  return tree.remaining.some(r => all.some(p => p.pid === r.pid && p.startTime === r.startTime));
}

function isOlder(startTime: string, than: string): boolean {
  return Number(startTime) < Number(than);
}

function addDescendants(all: readonly ProcessInfo[], members: Map<number, ProcessInfo>): void {
  for (let grown = true; grown; ) {
    grown = false;
    for (const info of all) {
      if (members.has(info.pid) || !members.has(info.parent)) continue;
      members.set(info.pid, info);
      grown = true;
    }
  }
}
