import type { Gateway } from '../../harness/server'
import { runCommand } from '../../harness/run-command'

/** A link that signs the operator of a gateway in, as `tollgate sign-in-link` prints it. */
export async function operatorLink({ dataDir, url }: Pick<Gateway, 'dataDir' | 'url'>) {
  const { out, err, code } = await runCommand('sign-in-link', { DATA_DIR: dataDir, BASE_URL: url })
  if (code !== 0) throw new Error(err)
  return out.trim()
}
