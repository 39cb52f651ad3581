import type { Gateway } from '../../harness/server'
import { runCommand } from '../../harness/run-command'

/** A link that signs an account in, the operator's unless named, as `tollgate sign-in-link` prints it. */
export async function operatorLink(
  { dataDir, url }: Pick<Gateway, 'dataDir' | 'url'>,
  ...args: string[]
) {
  const settings = { DATA_DIR: dataDir, BASE_URL: url }
  const { out, err, code } = await runCommand('sign-in-link', settings, ...args)
  if (code !== 0) throw new Error(err)
  return out.trim()
}
