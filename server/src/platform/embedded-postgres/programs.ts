import { existsSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../config/config'

/** PostgreSQL's programs for this machine: from an installed package, or contained in the executable. */
export interface Programs {
  /** Begins with `server-` and changes with the programs. */
  name: string
  /** Writes the programs into a folder that does not exist yet. */
  writeTo: (folder: string) => Promise<void>
  /** Sizes in bytes by path, of the files that the server cannot run without. */
  sizes: () => Promise<ReadonlyMap<string, number>>
}

/** The folders that must be complete; the small files below `share` are synced together with the first cluster. */
export const measuredFolders = ['bin', 'lib', 'lib/postgresql']

/** Files that a server does not need: static libraries, build files of extensions, extensions that we do not use. */
export const unwanted =
  /\.a$|\/pgxs$|\/pkgconfig$|pl(perl|python3|tcl)|\/pg_ctl$|ecpg|pgtypes|\/extension\/(?!plpgsql)/

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']
const loaders: Record<string, string> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
}

/** Returns the platform, such as `linux-x64`. Throws `StartError` where the programs do not run. */
export function detectProgramPlatform(): string {
  const platform = `${process.platform}-${process.arch}`
  if (!platforms.includes(platform)) throw unavailable(`does not exist for ${platform}`)
  const loader = loaders[platform]
  if (loader && !existsSync(loader)) throw unavailable(`needs glibc, and ${loader} is missing`)
  return platform
}

/** Creates the start error for a machine that cannot run the embedded server. */
export const unavailable = (why: string) =>
  new StartError(
    `The embedded PostgreSQL ${why}. Or set DATABASE_URL to a PostgreSQL server of your own.`,
  )

/**
 * Installs the programs into `home`, once per version, and returns their folder. The caller holds the lock of `home`,
 * so no other process does this at the same time.
 */
export async function installPrograms(home: string, programs: Programs): Promise<string> {
  const target = join(home, programs.name)
  await removeOthers(home, programs.name)
  if (await isComplete(target, await programs.sizes())) return target
  await rm(target, { recursive: true, force: true })

  const draft = `${target}.new-${crypto.randomUUID()}`
  await programs.writeTo(draft)
  await rename(draft, target)
  return target
}

/** A copy interrupted by a power cut can have its names but not its bytes: the sizes show that. */
async function isComplete(target: string, sizes: ReadonlyMap<string, number>): Promise<boolean> {
  const checks = [...sizes].map(async ([path, size]) => {
    const foundFile = await stat(join(target, path)).catch(() => undefined)
    return foundFile?.size === size
  })
  return (await Promise.all(checks)).every(Boolean)
}

/** Removes earlier versions, and incomplete copies. */
async function removeOthers(home: string, name: string): Promise<void> {
  const others = (await readdir(home)).filter((it) => it.startsWith('server-') && it !== name)
  // A server of an earlier version may still run until the takeover: its deleted files stay open.
  await Promise.allSettled(others.map((it) => rm(join(home, it), { recursive: true })))
}

/** Makes the entries of a directory durable: a rename into it survives a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
