import { join } from 'node:path'
import { WaitTimeoutError, waitTimeoutMs } from '../../../server/testing/eventually'

const root = join(import.meta.dir, '../../..')

/** A program that runs at a terminal of its own. */
export interface AtTerminal extends AsyncDisposable {
  pid: number
  /** All that it wrote to the terminal. */
  text: () => string
  /** Resolves once the text matches; rejects with the text where the program ends before. */
  shows: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Types, as by a keyboard: `\x03` is Ctrl-C. */
  type: (keys: string) => void
  exited: Promise<number>
}

/** Starts the server at a terminal, with nothing but these variables. */
export function startAtTerminal(environment: Record<string, string>): AtTerminal {
  let output = ''
  const decoder = new TextDecoder()
  const child = Bun.spawn([process.execPath, 'server/src/main.ts'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      WORKERS: '1',
      LOCAL_DISCOVERY: 'false',
      ...environment,
    },
    terminal: {
      cols: 200,
      rows: 50,
      data: (_terminal, bytes) => void (output += decoder.decode(bytes, { stream: true })),
    },
  })
  const shows = async (pattern: RegExp) => {
    const deadline = performance.now() + waitTimeoutMs
    while (performance.now() < deadline) {
      const found = pattern.exec(output)
      if (found) return found
      if (child.exitCode !== null) throw new Error(`${String(pattern)} is not in:\n${output}`)
      await Bun.sleep(5)
    }
    throw new WaitTimeoutError(`${String(pattern)} in:\n${output}`, waitTimeoutMs)
  }
  return {
    pid: child.pid,
    text: () => output,
    shows,
    type: (keys) => void child.terminal?.write(keys),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
      child.terminal?.close()
    },
  }
}
