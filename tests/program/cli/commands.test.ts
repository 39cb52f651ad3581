import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { tollgate } from './run-cli'
import { openDatabase } from '../../harness/database'
import { freePort } from '../../harness/free-port'
import { openOperator, CallFailed } from '../../../cli/src/server'
import { newDataDir, startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let dataDir: string
beforeAll(async () => {
  dataDir = await newDataDir('started')
  gateway = await startGateway({ dataDir })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

const settings = () => ({ DATA_DIR: dataDir, PORT: new URL(gateway.url).port })

const run = (line: string, input = '') =>
  tollgate(line.split(' '), { environment: settings(), input })

/** What `--json` says of a command that has to succeed. */
async function runCommand(line: string, input = '') {
  const [group, verb, ...rest] = line.split(' ')
  const { out, err, code } = await run([group, verb, '--json', ...rest].join(' '), input)
  expect([line, code, err]).toEqual([line, 0, ''])
  return JSON.parse(out)
}

test('an account, its credits and its keys are made and ended', async () => {
  const user = await runCommand('users create ann@example.com --name Ann')
  expect(user).toMatchObject({ email: 'ann@example.com', display_name: 'Ann' })
  expect((await run('users list --search ann@')).out).toMatch(
    /^ID +ADDRESS.*\nuser_\w+ +ann@example/,
  )
  await runCommand('credits grant ann@example.com 12.5 --reason Welcome')
  await runCommand('credits adjust ann@example.com -- -2')
  expect(await runCommand('users show ann@example.com')).toMatchObject({ balance: 10.5 })
  const { transactions } = await runCommand(`credits show ${user.id} --limit all`)
  expect(transactions.map(({ amount }: { amount: number }) => amount)).toEqual([-2, 12.5])

  const made = await run('keys create ann@example.com --name laptop --expires-in-days 3')
  const key = made.out.trim()
  expect(key).toMatch(/^sk-tg-\w+$/)
  const status = async () =>
    (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } }))
      .status
  expect(await status()).toBe(200)
  const { keys } = await runCommand('keys list ann@example.com')
  expect(keys).toMatchObject([{ name: 'laptop', permissions: ['read', 'write'] }])
  await runCommand(`keys revoke ann@example.com ${keys[0].id}`)
  expect(await status()).toBe(401)

  expect(await runCommand('users disable ann@example.com')).toMatchObject({ status: 'suspended' })
  expect(await runCommand('users enable ann@example.com')).toMatchObject({ status: 'active' })
  expect(await runCommand('users export ann@example.com')).toContainEqual({
    table: 'users',
    row: expect.objectContaining({ id: user.id }),
  })
  const unsure = await run('users delete ann@example.com')
  expect([unsure.code, unsure.err]).toEqual([2, expect.stringContaining('--yes')])
  await runCommand('users delete ann@example.com --yes')
  expect((await run('users show ann@example.com')).code).toBe(2)
})

test('a connection reads its key from the input, and never shows it', async () => {
  const secret = 'sk-never-to-be-shown-1234'
  const made = await runCommand(
    'connections create openai --endpoint http://127.0.0.1:9',
    `${secret}\n`,
  )
  expect(made).toMatchObject({ provider: 'openai', endpoint_url: 'http://127.0.0.1:9' })
  const without = await run('connections create openai')
  expect([without.code, without.err]).toEqual([2, expect.stringContaining('A secret is required')])
  const tested = await run(`connections test ${made.id}`)
  expect([tested.code, tested.out]).toEqual([1, ''])
  await runCommand(`connections update-key ${made.id}`, 'sk-another-one-5678')
  expect(await runCommand(`connections disable ${made.id}`)).toMatchObject({ status: 'inactive' })
  expect(await runCommand(`connections enable ${made.id}`)).toMatchObject({ status: 'active' })
  const { of } = await doctor({ ...settings(), ADMIN_KEY: '' })
  expect(['N12', of('providers')]).toEqual([
    'N12',
    { name: 'providers', state: 'ok', what: 'stored connections: openai' },
  ])
  const { out } = await run('connections list --json')
  expect(out).not.toContain(secret)
  await runCommand(`connections delete ${made.id} --yes`)
})

test('a model is added, priced, and disabled', async () => {
  await runCommand('models create openai/ours --input 1 --output 2 --context 4096')
  await runCommand('models price openai/ours --input 2 --output 3')
  await runCommand('models disable openai/ours')
  expect(await runCommand('models show openai/ours')).toMatchObject({
    pricing: { input: 2, output: 3 },
    context_length: 4096,
    enabled: false,
  })
  await runCommand('models enable openai/ours')
  const { models, total } = await runCommand('models list --limit 130')
  expect([models.length, total > 130]).toEqual([130, true])
})

test('migrate: a database that is up to date stays as it is', async () => {
  const { out, err, code } = await run('migrate')
  expect([code, out, err]).toEqual([0, 'The database is up to date.\n', ''])
  expect((await run('migrate --json')).out).toBe('{"migrations":[]}\n')
})

test.each([
  { line: 'users list --bad', code: 2, words: 'bad' },
  { line: 'users list --bad', code: 2, words: "Unknown option '--bad'. See tollgate users" },
  { line: 'doctor --bad', code: 2, words: "Unknown option '--bad'. See tollgate doctor --help." },
  { line: 'start --bad', code: 2, words: "Unknown option '--bad'. See tollgate start --help." },
  { line: '--bad', code: 2, words: "Unknown option '--bad'. See tollgate start --help." },
  { line: '--workers many', code: 2, words: '--workers must be a number from 1 to 64, or auto' },
  { line: 'users nope', code: 2, words: 'no command' },
  { line: 'keys create', code: 2, words: 'Usage: "tollgate keys create <user>"' },
  { line: 'credits grant nobody@example.com 5', code: 2, words: 'No account has' },
  { line: 'credits grant x@example.com 5e', code: 2, words: 'not an amount' },
  { line: 'models create nobody/x --input 1 --output 1', code: 1, words: 'does not exist' },
  { line: 'users list --url http://127.0.0.1:1', code: 1, words: 'No Tollgate answers' },
  {
    line: 'models create openai/y --context 4k',
    code: 2,
    words: '--context must be a whole number',
  },
  {
    line: 'models create openai/y --max-output 1.5',
    code: 2,
    words: '--max-output must be a whole',
  },
  {
    line: 'connections create openai --priority high',
    code: 2,
    words: '--priority must be a whole',
  },
  { line: 'models create openai/y --category x', code: 2, words: '--category must be one of' },
  { line: 'users list --status gone', code: 2, words: '--status must be one of' },
  { line: 'users list --limit 2.5', code: 2, words: '--limit must be a whole number' },
])(
  'tollgate $line ends with $code, and gives the reason in one line',
  async ({ line, code, words }) => {
    const ended = await run(line)
    expect([ended.code, ended.out]).toEqual([code, ''])
    expect(ended.err).toContain(words)
    expect(ended.err.trim().split('\n').length).toBe(1)
  },
)

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n'
const line = '{"table":"users","row":{}}\n'

test.each([
  { what: 'breaks off', answer: `${head}content-length: 500\r\n\r\n${line}` },
  { what: 'has half a line', answer: `${head}content-length: 30\r\n\r\n${line}{"t` },
  { what: 'is no answer', answer: `${head}content-length: 6\r\n\r\nhello\n` },
])('an export that $what fails with one line, and prints nothing', async ({ answer }) => {
  using server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.end(answer) },
  })
  const ended = await run(`users export user_1 --url http://127.0.0.1:${server.port}`)
  expect([ended.code, ended.out]).toEqual([1, ''])
  expect(ended.err).toMatch(/^tollgate: The answer (is malformed|of \S+ was cut off)[^\n]*\n$/)
})

test('an answer that does not come is given up, in one line', async () => {
  using silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.write(`${head}content-length: 500\r\n\r\n`) },
  })
  const address = `http://127.0.0.1:${silent.port}`
  const operator = await openOperator(address, { ADMIN_KEY: gateway.adminKey }, 200)
  const listing = operator.GET('/api/admin/users')
  await expect(listing).rejects.toThrow(new CallFailed(`${address} did not answer in time.`))
})

interface Finding {
  name: string
  state: string
  fix?: string
}

async function doctor(environment: Record<string, string>) {
  const { out, code } = await tollgate(['doctor', '--json'], { environment })
  const { findings } = JSON.parse(out)
  const of = (name: string) => findings.find((one: Finding) => one.name === name)
  return { code, of, findings }
}

test('doctor: a running server is found, and a stopped one is still examined', async () => {
  const running = await doctor({ ...settings(), ADMIN_KEY: '' })
  expect(running.code).toBe(0)
  for (const name of ['port', 'database', 'schema', 'clock', 'encryption key', 'journal']) {
    expect(running.of(name)).toMatchObject({ state: 'ok' })
  }
  expect(running.of('port').what).toContain('a Tollgate answers')
  const nowhere = await doctor({ DATA_DIR: `${dataDir}/none`, PORT: '1' })
  expect([nowhere.code, nowhere.of('database').what]).toEqual([
    0,
    expect.stringContaining('first start'),
  ])
})

test('doctor: a problem is a failure, with a way to fix it', async () => {
  using other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
  const { code, of, findings } = await doctor({
    DATA_DIR: dataDir,
    PORT: String(other.port),
    BASE_URL: 'http://0.0.0.0:80',
    REDIS_URL: 'redis://127.0.0.1:1',
    CLICKHOUSE_URL: 'http://127.0.0.1:1/logs',
    STRIPE_SECRET_KEY: 'sk_test_123',
    STRIPE_WEBHOOK_SECRET: 'none-of-stripe',
    ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
    HTTPS_PROXY: 'http://127.0.0.1:1',
  })
  expect(code).toBe(1)
  for (const name of ['port', 'address', 'redis', 'log store', 'payments']) {
    expect(of(name)).toMatchObject({ state: 'failure', fix: expect.any(String) })
  }
  expect(of('proxies')).toMatchObject({ state: 'warning' })
  expect(findings.filter(({ state, fix }: Finding) => state !== 'ok' && !fix)).toEqual([])
  const unreadable = await doctor({ DATA_DIR: dataDir, PORT: 'eight' })
  expect([unreadable.code, unreadable.of('settings').state]).toEqual([1, 'failure'])
})

test('doctor: warns of a variable that looks like a misspelt setting', async () => {
  const { code, of } = await doctor({ DATA_DIR: `${dataDir}/none`, RETENTION_DAY: '7' })
  expect([code, of('variables')]).toEqual([
    0,
    {
      name: 'variables',
      state: 'warning',
      what: 'RETENTION_DAY is not read. Did you mean RETENTION_DAYS?',
      fix: 'Correct its name, or unset it.',
    },
  ])
})

test('doctor: the port is queried at the address of HOST', async () => {
  // One that the system chooses for this address may be listened on at the other.
  const port = freePort()
  using other = Bun.serve({ port, hostname: '127.0.0.2', fetch: () => new Response('hello') })
  const PORT = String(other.port)
  const there = await doctor({ DATA_DIR: `${dataDir}/none`, PORT, HOST: '127.0.0.2' })
  expect(there.of('port')).toMatchObject({ state: 'failure' })
  const elsewhere = await doctor({ DATA_DIR: `${dataDir}/none`, PORT, HOST: '127.0.0.1' })
  expect(elsewhere.of('port')).toMatchObject({ state: 'ok', what: `${PORT} is free` })
})

test('doctor: a database that a later version has used is served from, with a warning', async () => {
  await using sql = await openDatabase(dataDir)
  const name = '9999-of-a-later-version'
  await sql`insert into kysely_migration values (${name}, now()::text)`
  const { code, of } = await doctor({ ...settings(), ADMIN_KEY: '' })
  await sql`delete from kysely_migration where name = ${name}`
  expect(of('schema')).toMatchObject({ state: 'warning', what: expect.stringContaining(name) })
  expect([code, of('encryption key')?.state, of('orphans')?.state]).toEqual([0, 'ok', 'ok'])
})
