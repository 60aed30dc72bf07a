/** `interpreter exec`: one turn of one thread, without anybody to ask, and an exit status that can be trusted. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Thread, TurnResult } from '../../agent/index.js';
import { type Config, ConfigError } from '../../config/index.js';
import type { Approver, JsonSchema, UserInput } from '../../protocol/index.js';
import { messageOf, reserveStdout, within } from '../../util/index.js';
import type { WiredAgent } from '../agent-wiring.js';
import type { Boot } from '../boot/boot.js';
import { ExitError } from '../exit-error.js';
import { createLog } from '../log.js';
import { type Observation, observe } from '../observation.js';
import { providerEnvironment, withoutCodexApiKey } from './codex-api-key.js';
import { checkWorkTree, execConfig, loadOptions } from './exec-config.js';
import type { ExecJob } from './exec-job.js';
import { Interruption } from './interruption.js';
import type { Printer } from './printer.js';
import { readPrompt } from './prompt.js';
import { StandardOutput } from './standard-output.js';

/** What is still open at the end of a run is closed within this time. */
const CLOSE_MS = 1200;
/** Telemetry that was not sent by then is lost. */
const TELL_MS = 700;

/** Ends the process: status 0 when the turn was completed, else 1. Throws ExitError and ConfigError before the turn. */
export async function runExec(job: ExecJob, boot: Boot): Promise<void> {
  const run = new ExecRun(job);
  try {
    const code = await run.toEnd();
    await run.close();
    boot.saveCodeCache();
    process.exit(run.outputIsLost() ? 1 : code);
  } catch (error) {
    await run.close();
    // A pipe that stays open would keep the process alive.
    process.stdin.destroy();
    throw error;
  }
}

class ExecRun {
  readonly #job: ExecJob;
  readonly #env = process.env;
  readonly #log = createLog(process.env);
  readonly #outputIsTerminal = process.stdout.isTTY === true;
  readonly #output: StandardOutput;
  readonly #interruption = new Interruption(why => this.#cutOff(why));
  #agent: WiredAgent | null = null;
  #observed: Observation | null = null;
  #printer: Printer | null = null;
  #closeChannel: () => void = () => {};
  /** The turn has begun: its end has to be told too. */
  #begun = false;

  constructor(job: ExecJob) {
    this.#job = job;
    this.#output = new StandardOutput(reserveStdout(), () =>
      this.#interruption.interrupt('nobody reads the output any more'),
    );
    process.on('exit', () => this.#agent?.sandbox.killAllNow());
  }

  async toEnd(): Promise<number> {
    const { target, flags } = this.#job;
    const load = loadOptions(flags, target, this.#env);
    const config = withPlace(() => execConfig(load, flags, target));
    // Loaded while standard input is read.
    const wiring = import('../agent-wiring.js');
    await this.#checkRules(config);
    const prompt = await this.#readPrompt();
    const schema = await this.#readSchema();
    checkWorkTree(config, flags);
    if (config.log_dir !== null) this.#log.keepIn(config.log_dir);
    const observed = await observe({ config, env: this.#env, service: 'codex_exec', log: this.#log });
    this.#observed = observed;
    const { wireAgent } = await wiring;
    const agent = wireAgent({
      env: withoutCodexApiKey(this.#env),
      providerEnv: settings => providerEnvironment(this.#env, settings),
      load,
      log: this.#log,
      tracer: observed.tracer,
    });
    this.#agent = agent;
    const thread = await this.#openThread(agent, config);
    const text = target.type === 'review' ? await this.#reviewPrompt(agent, config, prompt) : prompt;
    const printer = await this.#createPrinter(agent, config, prompt ?? 'review');
    this.#printer = printer;
    if (text === null) {
      printer.created(thread.id);
      return 0;
    }
    return this.#finish(await this.#runTurn(thread, config, text, schema), printer);
  }

  /** Bounded in time; what is written to the output arrives while somebody reads it. */
  async close(): Promise<void> {
    this.#closeChannel();
    const flushed = this.#output.flushed();
    if (this.#agent) await within(this.#agent.close(), CLOSE_MS);
    await this.#observed?.close(TELL_MS);
    await (this.#interruption.signal.aborted ? within(flushed, CLOSE_MS) : flushed);
    this.#interruption.close();
  }

  /** After `close`: whether the answer did not arrive, which is told here. */
  outputIsLost(): boolean {
    const { lost } = this.#output;
    if (lost) process.stderr.write(`Error: the output could not be written: ${lost.message}\n`);
    return lost !== null;
  }

  async #checkRules(config: Config): Promise<void> {
    const { loadRules } = await import('../../approvals/index.js');
    const { problems } = await loadRules(config.rules_dirs);
    if (problems.length > 0) throw new ExitError(1, `Error loading rules:\n${problems.join('\n')}`);
  }

  /** Null when a fork is only to be made. */
  async #readPrompt(): Promise<string | null> {
    const { target, prompt, flags } = this.#job;
    if (
      prompt === undefined &&
      (target.type === 'fork' || (target.type === 'review' && target.subject.type !== 'custom'))
    ) {
      return null;
    }
    const hint =
      'No prompt provided. Either specify one as an argument or pipe the prompt into stdin.' +
      (flags.images.length > 0 ? ' -i takes every word up to the next option: put -- before the prompt.' : '');
    return readPrompt({
      argument: prompt,
      stdin: process.stdin,
      append: target.type === 'start',
      hint,
      notice: text => void process.stderr.write(text),
    });
  }

  async #readSchema(): Promise<JsonSchema | null> {
    const { outputSchema } = this.#job.flags;
    if (outputSchema === undefined) return null;
    const { readOutputSchema } = await import('./output-schema.js');
    return readOutputSchema(outputSchema);
  }

  async #openThread(agent: WiredAgent, config: Config): Promise<Thread> {
    const { target } = this.#job;
    switch (target.type) {
      case 'start':
      case 'review':
        return agent.threads.startThread(config, 'exec');
      case 'resume': {
        const { findThread } = await import('./find-thread.js');
        return agent.threads.getThread(await findThread(config.home, target.id, 'resume'), config);
      }
      case 'resume_last': {
        const { findLastThread } = await import('./find-thread.js');
        const id = await findLastThread(config, target.all, text => this.#log('warn', text));
        return agent.threads.getThread(id, config);
      }
      case 'fork': {
        const { findThread } = await import('./find-thread.js');
        return agent.threads.startThread(config, 'exec', await findThread(config.home, target.id, 'fork'));
      }
    }
  }

  async #reviewPrompt(agent: WiredAgent, config: Config, instructions: string | null): Promise<string | null> {
    const { target, flags } = this.#job;
    if (target.type !== 'review') return instructions;
    const { prepareReview } = await import('./prepare-review.js');
    return prepareReview({
      subject: target.subject,
      instructions,
      sandbox: agent.sandbox,
      cwd: config.cwd,
      env: this.#env,
      unsandboxed: flags.yolo || flags.sandbox === 'danger-full-access',
      signal: this.#interruption.signal,
    });
  }

  async #createPrinter(agent: WiredAgent, config: Config, prompt: string): Promise<Printer> {
    if (this.#job.flags.json) {
      const { JsonPrinter } = await import('./json-printer.js');
      // That library takes `turn.failed` for the reason, and its caller would not see that it was his own abort.
      const tellInterrupts = this.#env['CODEX_INTERNAL_ORIGINATOR_OVERRIDE'] !== 'codex_sdk_ts';
      return new JsonPrinter({ output: this.#output, tellInterrupts });
    }
    const { createHumanPrinter } = await import('./create-human-printer.js');
    return createHumanPrinter({
      output: this.#output,
      outputIsTerminal: this.#outputIsTerminal,
      color: this.#job.flags.color,
      env: this.#env,
      config,
      model: agent.modelInfo(config),
      prompt,
    });
  }

  async #runTurn(thread: Thread, config: Config, text: string, schema: JsonSchema | null): Promise<TurnResult> {
    const images = this.#job.flags.images.map((file): UserInput => ({ type: 'local_image', path: path.resolve(file) }));
    return thread.run({
      input: [...images, { type: 'text', text }],
      approver: await this.#approver(config),
      signal: this.#interruption.signal,
      onEvent: event => {
        this.#begun ||= event.type === 'turn.started';
        this.#printer?.event(event);
      },
      ...(schema === null ? {} : { output_schema: schema }),
      // Whoever started this process may want to see it below its own span.
      trace: { traceparent: this.#env['TRACEPARENT'], tracestate: this.#env['TRACESTATE'] },
    });
  }

  async #approver(config: Config): Promise<Approver> {
    const { approvalsFd } = this.#job.flags;
    if (approvalsFd === undefined) {
      return () => Promise.resolve({ type: 'denied', by: 'policy', reason: 'exec has nobody to ask' });
    }
    const { ApprovalChannel } = await import('./approval-channel.js');
    const channel = new ApprovalChannel({
      fd: approvalsFd,
      timeoutMs: config.mcp_server.approval_timeout_ms,
      warn: text => this.#log('warn', text),
    });
    this.#closeChannel = () => channel.close();
    return channel.approver;
  }

  #finish(result: TurnResult, printer: Printer): number {
    if (!this.#begun) {
      const why = result.error?.message ?? 'interrupted';
      throw new ExitError(1, `Error: ${why}`);
    }
    const completed = result.status === 'completed';
    printer.end(completed ? result.content : null);
    return completed && this.#writeLastMessage(result.content) ? 0 : 1;
  }

  #writeLastMessage(text: string): boolean {
    const { outputLastMessage: file } = this.#job.flags;
    if (file === undefined) return true;
    try {
      writeFileSync(file, text);
    } catch (error) {
      process.stderr.write(`Failed to write last message file ${file}: ${messageOf(error)}\n`);
      return false;
    }
    if (text === '') process.stderr.write(`Warning: no last agent message; wrote empty content to ${file}\n`);
    return true;
  }

  #cutOff(why: string): void {
    if (this.#begun && this.#interruption.signal.aborted) this.#printer?.interrupt();
    else if (this.#begun) this.#printer?.fail(why);
    this.#agent?.sandbox.killAllNow();
    process.exit(1);
  }
}

/** Mistakes in files are shown with their place, as other programs look for it. */
function withPlace<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    const inFile = error instanceof ConfigError && /:\d+:\d+: /.test(error.message.split('\n', 1)[0] ?? '');
    if (inFile) throw new ExitError(1, `Error loading config.toml:\n${error.message}`);
    throw error;
  }
}
