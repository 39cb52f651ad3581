import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Missing } from './subject'

/** The folder into which `npm run bench peers` installs, with a folder for each peer. */
export const peersFolder = join(import.meta.dir, '../peers')

/** Peers from PyPI; each has a `requirements.txt` and is installed into an environment of its own. */
export const pythonPeers = ['smg', 'ferrogw', 'litellm'] as const

/** Returns the path of the Python environment of a peer. */
export const environmentOf = (peer: (typeof pythonPeers)[number]): string =>
  join(peersFolder, peer, 'venv')

/** The crate of litellm-rs, with the features of its gateway, PostgreSQL and Redis. */
export const litellmRs = {
  root: join(peersFolder, 'litellm-rs/installed'),
  version: '0.9.0',
  features: 'postgres,sqlite,redis,metrics,tracing',
}

/** Throws Missing where a peer's program is not installed. */
export function requireProgram(path: string): string {
  if (!existsSync(path)) throw new Missing('not installed: npm run bench peers')
  return path
}

/** Go modules that the Go module proxy does not serve. */
export const goPeers = {
  bifrost: 'github.com/maximhq/bifrost/transports',
  gomodel: 'github.com/enterpilot/gomodel',
}

const refused = (module: string) =>
  `the Go module proxy refuses ${module}: 403, "This module version is not available"`

/** Unavailable peers, and why. */
export const refusedPeers: Record<string, string> = {
  ...Object.fromEntries(Object.entries(goPeers).map(([name, module]) => [name, refused(module)])),
  'litellm[proxy] 1.110.4': 'not published where it was looked for; 1.110.2 takes part',
  'litellm with its database':
    'it stores keys, their spending and logs through Prisma, whose engines are downloaded at installation',
}
