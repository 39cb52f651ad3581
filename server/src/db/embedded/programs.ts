import { existsSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../config'

/** PostgreSQL's programs for this machine: of an installed package, or carried along by the executable. */
export interface Programs {
  /** Begins with `server-` and changes with what they are. */
  name: string
  /** Writes them into a folder that is not there yet. */
  placeIn: (folder: string) => Promise<void>
  /** Bytes by path, of those without which nothing runs. */
  sizes: () => Promise<ReadonlyMap<string, number>>
}

/** What has to be whole; the small files below `share` are synced together with the first cluster. */
export const measuredFolders = ['bin', 'lib', 'lib/postgresql']

/** Of no use to a server: static libraries, what extensions are built with, extensions that we do not use. */
export const unwanted =
  /\.a$|\/pgxs$|\/pkgconfig$|pl(perl|python3|tcl)|\/pg_ctl$|ecpg|pgtypes|\/extension\/(?!plpgsql)/

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']
const loaders: Record<string, string> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
}

/** `linux-x64` and the like. Throws `StartError` where the programs do not run. */
export function detectProgramPlatform(): string {
  const platform = `${process.platform}-${process.arch}`
  if (!platforms.includes(platform)) throw unavailable(`does not exist for ${platform}`)
  const loader = loaders[platform]
  if (loader && !existsSync(loader)) throw unavailable(`needs glibc, and ${loader} is missing`)
  return platform
}

/** Why there is no embedded server, in the words of a start that fails. */
export const unavailable = (why: string) =>
  new StartError(
    `The embedded PostgreSQL ${why}. Or set DATABASE_URL to a PostgreSQL server of your own.`,
  )

/**
 * Puts the programs into `home`, once per version, and returns their folder. Whoever calls has the lock
 * of `home`: nobody else does so at the same time.
 */
export async function installPrograms(home: string, programs: Programs): Promise<string> {
  const target = join(home, programs.name)
  await removeOthers(home, programs.name)
  if (await isWhole(target, await programs.sizes())) return target
  await rm(target, { recursive: true, force: true })

  const draft = `${target}.new-${crypto.randomUUID()}`
  await programs.placeIn(draft)
  await rename(draft, target)
  return target
}

/** A copy that a power cut overtook can have its names but not its bytes: the sizes tell. */
async function isWhole(target: string, sizes: ReadonlyMap<string, number>): Promise<boolean> {
  const checks = [...sizes].map(async ([path, size]) => {
    const found = await stat(join(target, path)).catch(() => undefined)
    return found?.size === size
  })
  return (await Promise.all(checks)).every(Boolean)
}

/** Earlier versions, and copies that were cut short. */
async function removeOthers(home: string, name: string): Promise<void> {
  const others = (await readdir(home)).filter((it) => it.startsWith('server-') && it !== name)
  // A server of an earlier version may still run until it is taken over: deleted files live on.
  await Promise.allSettled(others.map((it) => rm(join(home, it), { recursive: true })))
}

/** Makes the entries of a directory durable: what was renamed into it stays after a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
