import { expect, test } from 'bun:test'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'

const root = import.meta.dir

/** The table of docs/contribute/architecture.md: the layers that each may import. A folder in a folder is one of its own. */
const mayImport = new Map(
  [
    ...(await Bun.file(join(root, '../../docs/contribute/architecture.md')).text()).matchAll(
      /^\| ([\w/-]+) \| ([\w/ –-]+) \|$/gm,
    ),
  ].map(([, layer = '', imported = '']) => [layer, imported.split(' ')]),
)

/** The only places that may open a socket or speak to the outside by themselves. */
const mayConnect =
  /^(upstream\/http|platform\/db)\/|^platform\/(redis|redis-subscription|mail\/smtp)\.ts$|^commands\/doctor\/port\.ts$/
const modules =
  'net|tls|https?|http2|dgram|dns|dns/promises|undici|ws|axios|got|node-fetch|nodemailer|ioredis|pg'
const opensSockets = new RegExp(
  [
    String.raw`(?<![.#\w])fetch\(`,
    String.raw`\b(globalThis|Bun|self)\.fetch\b`,
    String.raw`\bBun\.(connect|udpSocket|RedisClient|SQL|S3Client)\b`,
    String.raw`\bnew (WebSocket|EventSource|XMLHttpRequest)\(`,
    String.raw`(from|import|require)\s*\(?\s*['"](node:)?(${modules})['"]`,
  ].join('|'),
)
/**
 * In upstream/http: who sends syslog, who connects to providers, who asks the servers of this machine, who looks names
 * up, who connects to proxies.
 */
const gates = ['byte-stream.ts', 'connection.ts', 'local-servers.ts', 'names.ts', 'proxy-tunnel.ts']

/** Shared by tests, outside of what is shipped. */
const testing = '../testing/'

const layers = [...mayImport.keys(), 'platform'].toSorted((one, other) => other.length - one.length)

/** The layer of a file: the longest folder of the table that it lies in. */
const layerOf = (path: string) =>
  layers.find((layer) => path.startsWith(`${layer}/`)) ?? path.split(/[/.]/)[0] ?? ''

const isPlatformItself = (path: string) => layerOf(path) === 'platform'

/** `operator/x` may use `account/x`; else two resources of `api` share rows, not code. */
const resourceOf = (path: string) => path.replace(/^api\/(account|operator)\//, 'api/')

function allowed(file: string, target: string): boolean {
  if (['main', 'server', 'commands'].includes(layerOf(file))) return true
  if (layerOf(file) === 'api' && layerOf(target) === 'api') {
    const isUpward = file.startsWith('api/account/') && target.startsWith('api/operator/')
    return !isUpward && dirname(resourceOf(file)) === dirname(resourceOf(target))
  }
  const open = mayImport.get(layerOf(file)) ?? []
  if (layerOf(file) === layerOf(target) || open.includes(layerOf(target))) return true
  return target === 'errors' || isPlatformItself(target)
}

const importPattern = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

async function* sources() {
  for await (const file of new Glob('**/*.ts').scan(root)) {
    yield { file, text: await Bun.file(join(root, file)).text() }
  }
}

test('folders import one way, as the table of docs/contribute/architecture.md says', async () => {
  const violations: string[] = []
  for await (const { file, text } of sources()) {
    // A test may look wherever it needs to set its fixture.
    if (file.endsWith('.test.ts')) continue
    for (const [, specifier = ''] of text.matchAll(importPattern)) {
      const target = normalize(join(dirname(file), specifier))
      // The version of the package is the one thing outside.
      if (target === '../package.json') continue
      if (target.startsWith(testing)) continue
      if (target.startsWith('..') || !allowed(file, target)) violations.push(`${file} -> ${target}`)
    }
  }
  expect(violations).toEqual([])
})

/** Relative imports of every source, by its path without the extension. */
async function imports(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for await (const { file, text } of sources()) {
    const specifiers = [...text.matchAll(importPattern)].map(([, specifier = '']) => specifier)
    const targets = specifiers.map((specifier) => normalize(join(dirname(file), specifier)))
    found.set(file.replace(/\.ts$/, ''), targets)
  }
  return found
}

test('only tests import shared test code, from any folder', async () => {
  const all = [...(await imports())]
  const testOnly = all.filter(([, targets]) => targets.some((it) => it.startsWith(testing)))
  const violations: string[] = []
  for (const [path] of testOnly) {
    if (path.endsWith('.test')) continue
    for (const importer of all) {
      if (importer[1].includes(path) && !testOnly.includes(importer)) testOnly.push(importer)
    }
    // Something starts here that is no test.
    if (!all.some(([, targets]) => targets.includes(path))) violations.push(path)
  }
  expect(violations).toEqual([])
})

/** Returns the files that an import of `start` leads to, however far away. */
function findReachable(start: string, graph: ReadonlyMap<string, string[]>): Set<string> {
  const reachable = new Set<string>()
  const open = [start]
  for (const file of open) {
    for (const target of graph.get(file) ?? []) {
      if (reachable.has(target)) continue
      reachable.add(target)
      open.push(target)
    }
  }
  return reachable
}

/** The repository, and its folders with sources. */
const repository = join(root, '../..')
const folders = 'bench,bin,cli,client,connect,dashboard,deploy,server,tests'

/** Imports of every source of the repository, also those of types alone, by its path without the extension. */
async function importsOfAll(): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>()
  for await (const file of new Glob(`{${folders}}/**/*.{ts,tsx,mjs}`).scan(repository)) {
    if (/(^|\/)node_modules\//.test(file)) continue
    const text = await Bun.file(join(repository, file)).text()
    const specifiers = [...text.matchAll(importPattern)].map(([, specifier = '']) => specifier)
    const targets = specifiers.map((specifier) => withoutExtension(join(dirname(file), specifier)))
    all.set(withoutExtension(file), targets)
  }
  // A folder stands for its index.
  const isFile = (path: string) => all.has(path)
  for (const [file, targets] of all) {
    all.set(
      file,
      targets.map((target) => (isFile(target) ? target : join(target, 'index'))).filter(isFile),
    )
  }
  return all
}

const withoutExtension = (path: string) => path.replace(/\.(ts|tsx|mjs)$/, '')

test('no files of the repository import each other in a circle, not even for their types', async () => {
  const graph = await importsOfAll()
  const reachable = new Map([...graph.keys()].map((file) => [file, findReachable(file, graph)]))
  const circles = [...reachable].flatMap(([file, targets]) => {
    if (!targets.has(file)) return []
    return [...targets]
      .filter((target) => reachable.get(target)?.has(file))
      .toSorted()
      .join(' ')
  })
  expect([...new Set(circles)]).toEqual([])
  expect(graph.size).toBeGreaterThan(2000)
})

test('every property is tried as server/testing/property.ts has it: nothing else imports fast-check', async () => {
  const importing: string[] = []
  const top = join(root, '../..')
  for await (const file of new Glob(
    '{bench,cli,connect,dashboard,deploy,server,tests}/**/*.{ts,tsx}',
  ).scan(top)) {
    if (file.includes('node_modules/')) continue
    const text = await Bun.file(join(top, file)).text()
    if (/(from|import|require)\s*\(?\s*'fast-check'/.test(text)) importing.push(file)
  }
  expect(importing).toEqual(['server/testing/property.ts'])
})

test('no two exported types have one name', async () => {
  const places = new Map<string, string[]>()
  for await (const { file, text } of sources()) {
    const declared = text.matchAll(
      /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm,
    )
    for (const name of new Set([...declared].map(([, own = '']) => own))) {
      places.set(name, [...(places.get(name) ?? []), file])
    }
  }
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
})

test('X16, X20: sockets are opened in upstream/http, in platform and to the mail server, nowhere else', async () => {
  const violations: string[] = []
  for await (const { file, text } of sources()) {
    if (file.endsWith('.test.ts') || mayConnect.test(file)) continue
    if (opensSockets.test(text)) violations.push(file)
  }
  expect(violations).toEqual([])
})

test('X16: one place sends requests, and only the two kinds of egress import it', async () => {
  const found = { connecting: [] as string[], dialling: [] as string[], using: [] as string[] }
  for await (const { file, text } of sources()) {
    if (/test\.ts$|-for-tests\.ts$/.test(file)) continue
    if (/(?<![.#\w])fetch\(|\bHttpConnection\.dial\(/.test(text)) found.dialling.push(file)
    if (/\bnew Transport\(/.test(text)) found.using.push(file)
    if (!file.startsWith('upstream/http/')) continue
    if (opensSockets.test(text.replaceAll(/import \{ isIP \} from 'node:net'/g, ''))) {
      found.connecting.push(file.slice('upstream/http/'.length))
    }
  }
  expect(found.connecting.toSorted()).toEqual(gates)
  expect(found.dialling).toEqual(['upstream/http/transport.ts'])
  expect(found.using.toSorted()).toEqual(['server/egress.ts', 'upstream/http/egress.ts'])
})
