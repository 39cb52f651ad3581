import { spawn } from 'node:child_process'
import { StartError } from '../config/config'
import type { ServerAccount } from './account'

interface Command {
  command: string
  args: readonly string[]
  account: ServerAccount
  /** A directory the account can enter. */
  cwd: string
  /** Written to its standard input, which is then closed. */
  input?: string
  timeoutMs: number
}

interface Outcome {
  succeeded: boolean
  /** The last 64 KiB of standard output and error, in the order in which they arrived. */
  output: string
}

/** The environment of PostgreSQL's programs: no keys, no locale, no library paths. */
export const serverEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** The user and group to spawn with; empty for our own account. */
export const identity = ({ isForeign, uid, gid }: ServerAccount) => (isForeign ? { uid, gid } : {})

/** Runs a program of PostgreSQL to its end. Throws `StartError` if it cannot run or takes too long. */
export async function run(spec: Command): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const child = spawn(spec.command, spec.args, {
    ...identity(spec.account),
    cwd: spec.cwd,
    env: serverEnvironment,
    stdio: 'pipe',
  })
  let output = ''
  const keep = (text: string) => {
    output = (output + text).slice(-65_536)
  }
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)
  child.once('error', (cause) => reject(cannotRun(spec.command, cause)))
  child.once('close', (code) => resolve({ succeeded: code === 0, output }))
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    reject(new StartError(`${spec.command} did not end within ${spec.timeoutMs / 1000} s.`))
  }, spec.timeoutMs)
  // A program that ends without reading is judged by its exit code, not by our broken pipe.
  child.stdin.on('error', () => undefined)
  child.stdin.end(spec.input ?? '')
  return promise.finally(() => clearTimeout(timer))
}

/** Creates the error of a program that could not be started. */
export const cannotRun = (command: string, cause: Error) =>
  new StartError(
    `The embedded PostgreSQL cannot be run (${command}: ${cause.message}). ` +
      'Set DATABASE_URL to a PostgreSQL server of your own.',
    { cause },
  )
