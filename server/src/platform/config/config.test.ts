import { describe, expect, test } from 'bun:test'
import { badLoad, usualLoad } from '../../../testing/config/load-config'
import { badTelemetry } from '../../../testing/config/telemetry-config'
import { readConfig, StartError } from './config'

const key = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')

/** Why an environment is refused; empty when it is not. */
function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment)
    return ''
  } catch (thrown) {
    if (thrown instanceof StartError) return thrown.message
    throw thrown
  }
}

const defaults = {
  port: 8080,
  host: '127.0.0.1',
  baseUrl: undefined,
  dataDir: './data',
  databaseUrl: undefined,
  redisUrl: undefined,
  limitStore: 'memory' as const,
  clickHouse: { address: undefined, recentDays: 3 },
  databasePoolSize: 10,
  minimumBalance: 100_000_000n,
  firstCredit: 100_000_000_000n,
  messageCostLimit: 5_000_000_000n,
  breakerMs: 30_000,
  auditEveryMs: 60_000,
  alertEveryMs: 60_000,
  mail: undefined,
  mailEveryMs: 5000,
  retentionDays: 30,
  journalSync: 'always' as const,
  journalKeptMs: 0,
  journalRecentMs: 600_000,
  journalRecentBytes: 64 * 1024 * 1024,
  workers: 1,
  worker: undefined,
  ...usualLoad,
  failedAuthenticationsPerMinute: 20,
  adminKey: undefined,
  encryptionKeys: undefined,
  timers: {
    requestMs: 600_000,
    firstByteMs: 300_000,
    idleMs: 300_000,
    streamMs: 1_800_000,
    connectMs: 3000,
    earlyHeadersMs: 15_000,
    keepAliveMs: 15_000,
    slowClientMs: 30_000,
    drainMs: 120_000,
    unreadyMs: 0,
    databaseGraceMs: 45_000,
  },
  userEndpointPorts: [443],
  trustedProxies: [],
  gatewayHeartbeatMs: 30_000,
  payments: {
    secretKey: undefined,
    webhookSecrets: undefined,
    apiBase: 'https://api.stripe.com',
    rechargeEveryMs: 30_000,
    invoiceEveryMs: 60_000,
    compareEveryMs: 86_400_000,
  },
  signUp: 'open' as const,
  storeResponses: 'always' as const,
  localDiscovery: true,
  sandbox: true,
  remoteUrls: undefined,
  hidesCachedTokens: false,
  identityProvider: undefined,
  saml: undefined,
  telemetry: { logLevel: 'info', logsRequests: true, listener: undefined, tracing: undefined },
  crashAt: undefined,
  environment: {},
}

const timers = {
  REQUEST_TIMEOUT_SECONDS: 'requestMs',
  FIRST_BYTE_TIMEOUT_SECONDS: 'firstByteMs',
  IDLE_TIMEOUT_SECONDS: 'idleMs',
  STREAM_TIMEOUT_SECONDS: 'streamMs',
  CONNECT_TIMEOUT_SECONDS: 'connectMs',
  EARLY_HEADERS_SECONDS: 'earlyHeadersMs',
  KEEP_ALIVE_SECONDS: 'keepAliveMs',
  SLOW_CLIENT_SECONDS: 'slowClientMs',
  DRAIN_SECONDS: 'drainMs',
} as const

const bad: Record<string, string[]> = {
  PORT: ['-1', '65536', '80.5', 'http'],
  BASE_URL: ['example.com', 'ftp://example.com', '/v1'],
  DATABASE_URL: ['localhost', 'mysql://localhost/x'],
  ADMIN_KEY: ['fifteen-letters'],
  ENCRYPTION_KEY: [
    'short',
    `${key}AAAA`,
    key.replace('0', '0 '),
    `${'A'.repeat(43)}=`,
    'ab'.repeat(32),
  ],
  MINIMUM_BALANCE_USD: ['-1', 'free', '1000001'],
  FIRST_CREDIT_USD: ['-0.01', 'much', '1e12'],
  MESSAGE_COST_LIMIT_USD: ['-0.01', 'much', '1e12'],
  JOURNAL_SYNC: ['never', 'ALWAYS'],
  REDIS_URL: ['localhost', 'http://localhost:6379'],
  CLICKHOUSE_URL: [
    'localhost',
    'tcp://localhost:9000',
    'http://localhost/a/b',
    'http://localhost/a?b=1',
  ],
  CLICKHOUSE_RECENT_DAYS: ['1', '3651', 'few'],
  USER_ENDPOINT_PORTS: ['0', '65536', '443,', '443 8443', 'https'],
  TRUSTED_PROXIES: ['proxy', '10.0.0.0/33', '10.0.0.0/8 10.1.0.0/16', 'fd00::/129'],
  STRIPE_SECRET_KEY: ['short', 'sk test with spaces'],
  STRIPE_WEBHOOK_SECRET: [',', 'whsec_0123,', 'whsec_0123 whsec_4567'],
  STRIPE_API_BASE: ['api.stripe.com', 'ftp://stripe'],
  AUTO_RECHARGE_SECONDS: ['0', '-1', '3601', 'soon'],
  PAYMENT_COMPARISON_SECONDS: ['0', '-1', '604801', 'nightly'],
  SIGNUP: ['yes', 'OPEN'],
  STORE_RESPONSES: ['yes', 'true', 'ALWAYS'],
  LOCAL_DISCOVERY: ['1', 'yes', 'TRUE'],
  SANDBOX: ['0', 'no', 'off'],
  REMOTE_URLS: ['true', 'PASSED'],
  HIDE_CACHED_TOKENS: ['1', 'yes'],
  LOG_LEVEL: ['verbose', 'INFO'],
  WORKERS: ['0', '-1', '1.5', '65', 'many'],
  UNREADY_SECONDS: ['-1', '86401', 'soon'],
  DATABASE_GRACE_SECONDS: ['-0.1', '86401', 'never'],
  ...badLoad,
  ...badTelemetry,
  ...Object.fromEntries(
    Object.keys(timers).map((name) => [name, ['0', '-1', '86401', 'soon', 'Infinity', 'NaN']]),
  ),
}

test('nothing has to be set', () => {
  expect(readConfig({})).toEqual(defaults)
})

test('an empty variable counts as unset', () => {
  const empty = Object.fromEntries(Object.keys(bad).map((name) => [name, '']))
  expect(readConfig({ ...empty, HOST: '', DATA_DIR: '', OPENAI_API_KEY: '' })).toEqual(defaults)
})

test.each(Object.entries(bad).flatMap(([name, values]) => values.map((value) => [name, value])))(
  '%s=%s is rejected in one line that names the variable and keeps secrets out',
  (name = '', value = '') => {
    const environment: Record<string, string> = { ENCRYPTION_KEY: key, [name]: value }
    const message = refusal(environment)
    expect(message).toStartWith(`${name}: `)
    expect(message.length).toBeGreaterThan(name.length + 10)
    expect(message).not.toContain('\n')
    expect(message).toMatch(/^\w+: must /)
    if (/KEY|URL/.test(name)) expect(message).not.toContain(value)
  },
)

describe('configured values count', () => {
  test.each(Object.entries(timers))('%s is seconds, with decimals', (name, field) => {
    expect(readConfig({ [name]: '1.5' }).timers).toEqual({ ...defaults.timers, [field]: 1500 })
  })

  test('texts unchanged, numbers and flags parsed', () => {
    const set = {
      PORT: '0',
      HOST: '0.0.0.0',
      DATA_DIR: '/var/lib/tollgate',
      DATABASE_URL: 'postgres://user:secret@db.example:5432/tollgate',
      DATABASE_POOL_SIZE: '500',
      ADMIN_KEY: 'sixteen-letters!',
      ENCRYPTION_KEY: key,
      USER_ENDPOINT_PORTS: '443,8443',
      TRUSTED_PROXIES: '10.0.0.0/8, fd00::1',
      LOCAL_DISCOVERY: 'false',
      SANDBOX: 'false',
      LOG_LEVEL: 'silent',
      GROQ_API_KEY: 'gsk-1',
    }
    expect(readConfig(set)).toMatchObject({
      port: 0,
      host: '0.0.0.0',
      dataDir: '/var/lib/tollgate',
      databaseUrl: set.DATABASE_URL,
      databasePoolSize: 500,
      adminKey: 'sixteen-letters!',
      encryptionKeys: [{ id: undefined, key: Buffer.from(key, 'base64') }],
      userEndpointPorts: [443, 8443],
      trustedProxies: ['10.0.0.0/8', 'fd00::1'],
      localDiscovery: false,
      sandbox: false,
      telemetry: { logLevel: 'silent' },
      environment: { GROQ_API_KEY: 'gsk-1' },
    })
  })

  test('a base URL loses its final slashes, so that a path can follow it', () => {
    expect(readConfig({ BASE_URL: 'https://ai.example/gate//' }).baseUrl).toBe(
      'https://ai.example/gate',
    )
  })
})

test('K07: several keys have names, the first of which is used; a single one needs none', () => {
  const [one, other] = [1, 2].map((seed) =>
    Buffer.from(Array.from({ length: 32 }, (_, at) => at * seed)).toString('base64'),
  )
  const { encryptionKeys = [] } = readConfig({ ENCRYPTION_KEY: `2026-11:${one}, ${other}` })
  expect(encryptionKeys.map(({ id, key }) => [id, key.toString('base64')])).toEqual([
    ['2026-11', one],
    [undefined, other],
  ])
  expect(refusal({ ENCRYPTION_KEY: `a:${one},a:${other}` })).toContain('each key once')
  expect(refusal({ ENCRYPTION_KEY: `a:${one},b:short` })).toContain('32 random bytes')
  expect(refusal({ ENCRYPTION_KEY: `${one},` })).toContain('32 random bytes')
})

test('W07: several secrets of events hold at once, while one takes the place of another', () => {
  const { payments } = readConfig({ STRIPE_WEBHOOK_SECRET: 'whsec_old1, whsec_new1' })
  expect(payments.webhookSecrets).toEqual(['whsec_old1', 'whsec_new1'])
})

test('a database of your own needs a key of your own: nodes must not make one each', () => {
  const message = refusal({ DATABASE_URL: 'postgresql://localhost/tollgate' })
  expect(message).toStartWith('ENCRYPTION_KEY is required')
  expect(message).not.toContain('\n')
})

const mailOf = (url: string) => readConfig({ SMTP_URL: url, MAIL_FROM: 'a@b.example' }).mail

describe('a mail server', () => {
  const from = 'Tollgate <tollgate@gate.example>'

  test('is read from its address, with its parameters', () => {
    const { mail } = readConfig({
      SMTP_URL: 'smtps://me%40gate:p%2Fw@mail.example:2465',
      MAIL_FROM: from,
    })
    expect(mail).toEqual({
      server: {
        host: 'mail.example',
        port: 2465,
        isSecure: true,
        login: { user: 'me@gate', password: 'p/w' },
      },
      from: { name: 'Tollgate', address: 'tollgate@gate.example' },
    })
  })

  test('uses the default port, and no login unless one is set', () => {
    expect(mailOf('smtp://[::1]')?.server).toEqual({
      host: '::1',
      port: 587,
      isSecure: false,
      login: undefined,
    })
    expect(mailOf('smtps://mail.example')?.server.port).toBe(465)
    expect(mailOf('smtp://mail.example')?.from).toEqual({ name: '', address: 'a@b.example' })
  })

  test.each([
    [{ SMTP_URL: 'smtp://mail.example' }, 'MAIL_FROM is required with SMTP_URL'],
    [{ SMTP_URL: 'http://mail.example' }, 'SMTP_URL'],
    [{ SMTP_URL: 'smtp://mail.example?x=1' }, 'SMTP_URL: must end with the port'],
    [{ SMTP_URL: 'smtp://me:100%@mail.example' }, 'SMTP_URL: must have user and password'],
    [{ MAIL_FROM: 'Tollgate' }, 'MAIL_FROM: must be an address'],
    [{ MAIL_FROM: 'a@b.example\r\nBcc: eve@b.example' }, 'MAIL_FROM: must be an address'],
    [{ MAIL_FROM: 'A\nB <a@b.example>' }, 'MAIL_FROM: must be an address'],
    [{ MAIL_FROM: 'a@b.example, c@b.example' }, 'MAIL_FROM: must be an address'],
  ])('%j is rejected in a line', (environment, words) => {
    expect(refusal(environment)).toStartWith(words)
  })
})

test('N5: payments that would never be credited are rejected', () => {
  const [STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET] = ['sk_test_0123456789', 'whsec_0123456789']
  expect(() => readConfig({ STRIPE_SECRET_KEY })).toThrow(
    'STRIPE_WEBHOOK_SECRET is required with STRIPE_SECRET_KEY',
  )
  expect(readConfig({ STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET }).payments.secretKey).toBe(
    STRIPE_SECRET_KEY,
  )
})

test('N6: HOST may have the brackets that IPv6 addresses have in URLs', () => {
  expect(readConfig({ HOST: '[::1]' }).host).toBe('::1')
  expect(readConfig({ HOST: '::1' }).host).toBe('::1')
})
