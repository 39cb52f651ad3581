import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatWelcome, toCommand, type Welcome } from './welcome'

let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tollgate-welcome-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const start: Welcome = {
  version: '1.2.3',
  address: 'http://localhost:8080',
  startupMs: 1234,
  openHost: undefined,
  firstKey: undefined,
  firstKeyPath: undefined,
  signInLink: undefined,
  signInCommand: undefined,
  othersLimits: undefined,
  adminKeyPath: undefined,
  providers: [],
  hasSandbox: true,
}

/** What a shell makes of the command on the screen: curl's arguments, one a line. */
function pasted(screen: string, environment: Record<string, string> = {}): string[] {
  const command = screen.slice(screen.indexOf('  curl '))
  const shell = Bun.spawnSync(['sh', '-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
    env: { PATH: process.env['PATH'], ...environment },
  })
  expect(shell.stderr.toString()).toBe('')
  return shell.stdout.toString().trimEnd().split('\n')
}

const askedWith = (authorization: string) => [
  'http://localhost:8080/v1/chat/completions',
  '-H',
  `Authorization: Bearer ${authorization}`,
  '-H',
  'Content-Type: application/json',
  '-d',
  '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello!"}]}',
]

test('the first line reports readiness, the address, and the time of the start', () => {
  const [first] = formatWelcome(start).split('\n')
  expect(first).toBe('Tollgate 1.2.3 is ready at http://localhost:8080 after 1.23 s')
})

test('the first start shows the key, where it is kept, and a command that works as pasted', () => {
  const path = join(root, 'first-key')
  const screen = formatWelcome({ ...start, firstKey: 'sk-tg-abc', firstKeyPath: path })
  expect(screen).toMatch(/Your API key +sk-tg-abc\n/)
  expect(screen).toContain(`kept in ${path}\n`)
  expect(pasted(screen)).toEqual(askedWith('sk-tg-abc'))
})

test.each(['plain', 'a space', "it's", '$(exit 9) `true` "q"', 'ünïcode', 'two  spaces*'])(
  'later the command reads the key from its file, in a directory called %s too',
  async (name) => {
    const path = join(root, name, 'first-key')
    await mkdir(join(root, name))
    await Bun.write(path, 'sk-tg-kept\n')
    const screen = formatWelcome({ ...start, firstKeyPath: path })
    expect(screen).not.toContain('sk-tg-kept')
    expect(pasted(screen)).toEqual(askedWith('sk-tg-kept'))
  },
)

test('without a kept key the command takes one from the environment', () => {
  const screen = formatWelcome(start)
  expect(screen).not.toContain('Your API key')
  expect(pasted(screen, { TOLLGATE_KEY: 'sk-tg-mine' })).toEqual(askedWith('sk-tg-mine'))
})

test('a path below the working directory is shown as one types it, another in full', () => {
  const screen = formatWelcome({
    ...start,
    firstKeyPath: join(process.cwd(), 'data/first-key'),
    adminKeyPath: '/var/lib/tollgate/admin-key',
  })
  expect(screen).toMatch(/Your API key +data\/first-key\n/)
  expect(screen).toMatch(/Operator key +\/var\/lib\/tollgate\/admin-key\n/)
})

test('without the sandbox there is no command, as there may be no model', () => {
  const screen = formatWelcome({ ...start, hasSandbox: false, firstKey: 'sk-tg-abc' })
  expect(screen).not.toContain('curl')
  expect(screen).not.toContain('sandbox')
  expect(screen).toContain('sk-tg-abc')
})

test('names the providers; without any, the way to add one', () => {
  expect(formatWelcome({ ...start, providers: ['groq', 'openai'] })).toMatch(
    /Providers +groq, openai\n/,
  )
  const none = formatWelcome(start)
  // Finding N20: connections for all accounts are the operator's.
  expect(none).toMatch(
    /Providers +none yet: add a connection on the dashboard \(Operator, Platform connections\),\n/,
  )
  expect(none).toContain('or set OPENAI_API_KEY or another before the start')
})

test('N2: without a link there is the command that prints one, while links are the only way in', () => {
  const link = 'http://localhost:8080/api/auth/magic-link/verify?token=x'
  const withLink = formatWelcome({
    ...start,
    signInLink: link,
    signInCommand: 'tollgate sign-in-link',
  })
  expect(withLink).toContain(`${link}\n`)
  expect(withLink).not.toContain('sign-in-link')
  const withCommand = formatWelcome({ ...start, signInCommand: 'tollgate sign-in-link' })
  expect(withCommand).toMatch(/Sign in +run: tollgate sign-in-link\n/)
  expect(formatWelcome(start)).not.toContain('Sign in')
})

test('finding N9: reports that BASE_URL is not set if clients of other machines may connect', () => {
  expect(formatWelcome(start)).not.toContain('BASE_URL')
  expect(formatWelcome({ ...start, openHost: '0.0.0.0' })).toMatch(
    /Address +HOST is 0\.0\.0\.0: set BASE_URL to the address that clients use,\n/,
  )
})

test.each(['.', '/'])(
  'finding N11: the command from sources runs this checkout, typed in %s',
  (folder) => {
    const [cwd, node] = [process.cwd(), process.env['TOLLGATE_NODE']]
    try {
      process.chdir(folder)
      process.env['TOLLGATE_NODE'] = 'v22'
      const command = toCommand('sign-in-link')
      expect(command).toMatch(/^node \S*bin\/tollgate\.mjs sign-in-link$/)
      const environment = { PATH: process.env['PATH'], TOLLGATE_BUN: process.execPath }
      const { stdout } = Bun.spawnSync(['sh', '-c', `${command} --help`], { env: environment })
      expect(stdout.toString()).toStartWith('Usage: tollgate sign-in-link')
    } finally {
      process.chdir(cwd)
      if (node === undefined) delete process.env['TOLLGATE_NODE']
      else process.env['TOLLGATE_NODE'] = node
    }
  },
)

test('N1: shows the limits of other accounts although the first account has none', () => {
  const othersLimits = {
    name: 'free',
    requestsPerMinute: 60,
    tokensPerMinute: 100_000,
    concurrentRequests: null,
  }
  const screen = formatWelcome({ ...start, othersLimits })
  expect(screen).toMatch(/Limits +none for your account, and no charge\n/)
  expect(screen).toContain(
    'other accounts, plan "free": 60 requests a minute, 100,000 tokens a minute\n',
  )
  expect(formatWelcome(start)).not.toContain('Limits')
})
