import { endOf, root, type Ended } from '../run-command'

interface Given {
  environment?: Record<string, string>
  input?: string
}

/** `tollgate <args>` as somebody types it, by way of the launcher. */
export const tollgate = (
  args: readonly string[],
  { environment, input }: Given = {},
): Promise<Ended> =>
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
