import { endOf, root, type CommandResult } from '../../harness/run-command'

interface CliInput {
  environment?: Record<string, string>
  input?: string
}

/** Runs `tollgate <args>` by way of the launcher. */
export const tollgate = (
  args: readonly string[],
  { environment, input }: CliInput = {},
): Promise<CommandResult> =>
  endOf(
    Bun.spawn(['node', 'bin/tollgate.mjs', ...args], {
      cwd: root,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        TOLLGATE_BUN: process.execPath,
        ...environment,
      },
      stdin: new Blob([input ?? '']),
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
