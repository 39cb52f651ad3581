import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createObservations, startLoad } from './client-load'
import { connectProvider } from '../../harness/nodes'
import { startPostgres } from '../../harness/postgres-server'
import { startRedis } from '../../harness/redis-server'
import { eventually } from '../../../server/testing/eventually'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { newDataDir, startGateway, type Gateway } from '../../harness/server'
import { startFakeProvider } from '../../harness/upstreams/fake-provider'

setDefaultTimeout(360_000)

/** The previous release, or the nearest commit; `PREVIOUS=<commit>` overrides it. Updated with releases. */
const previous = process.env['PREVIOUS'] ?? '48ec20eb'
const root = join(import.meta.dir, '../../..')

const git = (...args: string[]) => Bun.spawnSync(['git', '-C', root, ...args])
const isKnown = git('cat-file', '-e', `${previous}^{commit}`).exitCode === 0

async function run(command: readonly string[], cwd = root): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdout: 'ignore', stderr: 'pipe' })
  const [exitCode, output] = await Promise.all([child.exited, child.stderr.text()])
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${output}`)
}

/** Checks out that commit, with its packages, or those of the current tree where they are equal. */
async function checkOut(commit: string, path: string): Promise<void> {
  const archive = join(path, 'tree.tar')
  await run(['git', '-C', root, 'archive', '-o', archive, commit])
  await run(['tar', '-xf', archive, '-C', path])
  if (git('diff', '--quiet', commit, '--', 'package-lock.json').exitCode !== 0) {
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
    return run(['npm', 'ci', ...quietly], path)
  }
  for (const folder of ['', 'server']) {
    const packages = join(root, folder, 'node_modules')
    if (existsSync(packages)) await symlink(packages, join(path, folder, 'node_modules'))
  }
}

/** The tree of the previous release. Installing its packages depends on the network and the disk. */
let tree = ''
const maxInstallMs = 600_000

beforeAll(async () => {
  if (!isKnown) return
  tree = await mkdtemp(join(tmpdir(), 'tollgate-previous-'))
  await checkOut(previous, tree)
}, maxInstallMs)
afterAll(async () => {
  if (tree !== '') await rm(tree, { recursive: true, force: true })
})

if (!isKnown) {
  console.warn(
    `L07: the commit ${previous} is not here, as in a shallow clone: versions side by side are not ` +
      'tried. What they share is pinned by server/src/server/formats.test.ts.',
  )
}

test.skipIf(!isKnown)(
  'L07: a release and the previous one serve side by side, and take over each other’s journals',
  async () => {
    await using stack = new AsyncDisposableStack()
    const postgres = stack.use(await startPostgres())
    const redis = stack.use(await startRedis())
    const upstream = stack.use(await startFakeProvider())
    const sql = stack.use(postgres.connectAdmin())
    const environment = {
      ADMIN_KEY: `admin-of-versions-${crypto.randomUUID()}`,
      ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
      MINIMUM_BALANCE_USD: '0',
      LOG_LEVEL: 'error',
      // Of a superuser: the version before needs one (M17).
      DATABASE_URL: postgres.adminUrl,
      REDIS_URL: redis.url,
    }
    const dataDirs = [await newDataDir(), await newDataDir()]
    stack.defer(async () => {
      for (const path of dataDirs) await rm(path, { recursive: true, force: true })
    })
    const nodes: Gateway[] = []
    /** The output of each process so far, including killed ones. */
    const outputs: Gateway['output'][] = []
    stack.defer(async () => {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
    })
    const at = (place: number): Gateway => {
      const node = nodes[place]
      if (!node) throw new Error(`nothing runs at ${place}`)
      return node
    }
    const start = async (place: number, version: 'old' | 'new') => {
      const node = await startGateway({
        environment,
        dataDir: dataDirs[place] ?? '',
        ...(version === 'old' && { tree }),
      })
      nodes[place] = node
      outputs.push(node.output)
    }
    // Everything is created by the old version, secrets included; then the new one joins.
    await start(0, 'old')
    await connectProvider(at(0), upstream)
    for (const name of ['chunks-5', 'chunks-40-gap-10']) {
      await at(0).admin('POST', '/models', {
        id: `fake/${name}`,
        name,
        category: 'chat',
        context_length: 8192,
        max_output_tokens: 4096,
        pricing: { input: 1, output: 4 },
      })
    }
    // Sequentially: they share a plan that the first one creates.
    const customers = [await at(0).customer({}, { credit: 100 })]
    for (let count = 0; count < 5; count++) {
      customers.push(await at(0).customer({}, { credit: 100 }))
    }
    await start(1, 'new')
    const models: [string, number][] = [
      ['fake/chunks-5', 5],
      ['fake/chunks-40-gap-10', 40],
    ]
    const witness = createObservations()
    let turn = 0
    const load = startLoad(() => at(turn++ % 2), { customers, models }, witness)
    const more = async (count: number) => {
      const before = witness.completed.length
      await eventually(() => witness.completed.length >= before + count)
    }
    await more(30)
    expect([witness.broken, [...witness.statuses.keys()]]).toEqual([0, [200]])
    // The new version takes over from the killed old one, then vice versa.
    for (const [place, version] of [
      [0, 'new'],
      [1, 'old'],
    ] as const) {
      await at(place).stop('SIGKILL')
      await start(place, version)
      await more(20)
    }
    await load.stop()
    await waitUntilBooked(sql, upstream.requests().length)
    await expectSoundLedger(sql, {
      completed: witness.completed,
      attempts: upstream.requests().length,
    })
    const [{ orphans }] = await sql`
    select count(*) as orphans from usage_event where state = 'orphan'`
    console.log(
      `L07: ${witness.completed.length} answered, ${witness.broken} broken by kills, ${orphans} orphans`,
    )
    // While a killed node is down its customers may get a retryable error, and nothing else.
    for (const status of witness.statuses.keys()) expect(status).toBeOneOf([200, 503])
    expect(outputs).toHaveLength(4)
    for (const output of outputs) expect(output()).not.toMatch(/damaged|"level":60/)
  },
)
