/** The result of a program: its exit code, null where it was killed, and all its output. */
export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

interface Running {
  cwd?: string
  /** Replaces the current environment. */
  env?: Record<string, string | undefined>
  limitSeconds: number
}

/** Runs a program to its end, or kills it after `limitSeconds`. Never throws on its failure. */
export async function runCommand(
  command: readonly string[],
  running: Running,
): Promise<CommandResult> {
  const { cwd = '/', env = process.env, limitSeconds } = running
  try {
    const child = Bun.spawn([...command], {
      cwd,
      env,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: limitSeconds * 1000,
      killSignal: 'SIGKILL',
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    await child.exited
    return { code: child.exitCode, stdout, stderr }
  } catch (thrown) {
    return { code: 127, stdout: '', stderr: String(thrown) }
  }
}

/** Returns the last non-empty lines, for one line of a report. */
export const outputTail = ({ stdout, stderr }: CommandResult): string =>
  (stderr.trim() || stdout.trim()).split('\n').slice(-3).join(' ').slice(-400)
