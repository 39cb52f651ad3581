import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readSettings, type Environment } from './settings'
import { token } from './tollgate-for-tests'
import { Secrets, UsageError } from './text'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-connect-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const TOLLGATE_GATEWAY_TOKEN = token
const environment = { TOLLGATE_GATEWAY_TOKEN, PATH: '/bin', HOME: '/home/me', DATABASE_URL: 'pg' }
const url = ['--url', 'https://tollgate.example']

function read(args: string[], own: Environment = environment, secrets = new Secrets()) {
  const given = readArguments(args)
  if (!given) throw new Error('that is a call for help')
  return readSettings(given, own, secrets)
}

function written(name: string, content: string | object): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const fromFile = (content: object, own?: Environment) =>
  read([...url, '--config', written('connect.json', content)], own)

describe('--serve', () => {
  test('accepts servers of this machine by their names, and calls them local', () => {
    const { servers } = read([...url, '--serve', 'ollama', '--serve', 'vllm=http://gpu:9000/v1/'])
    expect(servers).toEqual([
      {
        provider: 'local',
        baseUrl: 'http://127.0.0.1:11434/v1',
        models: undefined,
        apiKey: undefined,
      },
      { provider: 'local', baseUrl: 'http://gpu:9000/v1', models: undefined, apiKey: undefined },
    ])
  })

  test('accepts a provider at its own address with the key of its variable', () => {
    const own = { ...environment, OPENAI_API_KEY: 'sk-openai-1' }
    expect(read([...url, '--serve', 'openai'], own).servers).toMatchObject([
      { provider: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-openai-1' },
    ])
  })

  test('does not send that key to another address', () => {
    const own = { ...environment, OPENAI_API_KEY: 'sk-openai-1', OLLAMA_API_KEY: 'sk-ollama-1' }
    const args = [...url, '--serve', 'openai=http://127.0.0.1:9/v1', '--serve', 'ollama']
    for (const { apiKey } of read(args, own).servers ?? []) expect(apiKey).toBeUndefined()
  })

  test('rejects a key that cannot be sent in a header', () => {
    const own = { ...environment, OPENAI_API_KEY: 'sk-hunter22\nx: y' }
    expect(() => read([...url, '--serve', 'openai'], own)).toThrow(
      'characters that a key cannot have',
    )
    expect(() => read([...url, '--serve', 'openai'], own)).not.toThrow('hunter22')
  })

  test('without it, servers on this machine are discovered', () => {
    expect(read(url).servers).toBeUndefined()
  })

  test.each([
    [['openai'], 'set OPENAI_API_KEY'],
    [['anthropic'], '--serve anthropic needs an address'],
    [['cloudflare'], '--serve cloudflare needs an address'],
    [['unknown'], '--serve unknown needs an address'],
    [['ollama='], '--serve is "provider" or "provider=address"'],
    [['=http://127.0.0.1/'], '--serve is "provider" or "provider=address"'],
    [['a=127.0.0.1'], 'is not an address'],
  ])('%p is rejected with a reason', (serves, words) => {
    expect(() => read([...url, ...serves.flatMap((one) => ['--serve', one])])).toThrow(words)
  })
})

describe('the gateway token', () => {
  test('is read from a file where the environment has none', () => {
    const token_file = written('token', `${token}\n`)
    expect(fromFile({ token_file }, {}).token).toBe(token)
  })

  test.each([
    ['none', {}, 'There is no gateway token'],
    [
      'a service key',
      { TOLLGATE_GATEWAY_TOKEN: `sk-tg-${'a'.repeat(49)}` },
      'This is a service key',
    ],
    ['a part of one', { TOLLGATE_GATEWAY_TOKEN: 'gt-tg-hunter22' }, 'is incomplete'],
  ])('is rejected, and not quoted, when it is %s', (_what, own: Environment, words) => {
    expect(() => read(url, own)).toThrow(words)
    expect(() => read(url, own)).not.toThrow(/hunter22|aaaa/)
  })
})

describe('the configuration file', () => {
  test('has the settings of all options, and more', () => {
    const api_key_file = written('key', 'sk-file-0123\n')
    const settings = fromFile(
      {
        servers: [
          {
            provider: 'mine',
            base_url: 'http://10.0.0.2:8000/v1',
            api_key_env: 'MINE',
            models: ['a'],
          },
          { provider: 'openai', api_key_file },
        ],
        tools: [
          {
            name: 'files',
            command: 'npx',
            args: ['-y', 'x'],
            env: { ROOT: '/srv' },
            allow: ['read'],
          },
          { name: 'web', url: 'http://127.0.0.1:3000/mcp', token_env: 'MINE', allow: ['get'] },
        ],
      },
      { ...environment, MINE: 'sk-mine-0123' },
    )
    expect(settings.servers).toEqual([
      {
        provider: 'mine',
        baseUrl: 'http://10.0.0.2:8000/v1',
        models: ['a'],
        apiKey: 'sk-mine-0123',
      },
      {
        provider: 'openai',
        baseUrl: 'https://api.openai.com/v1',
        models: undefined,
        apiKey: 'sk-file-0123',
      },
    ])
    expect(settings.tools).toEqual([
      {
        name: 'files',
        allow: ['read'],
        reach: {
          command: 'npx',
          args: ['-y', 'x'],
          configured: { ROOT: '/srv' },
          // Nothing else of the agent's environment: not the token, not the keys.
          environment: { PATH: '/bin', HOME: '/home/me', ROOT: '/srv' },
        },
      },
      {
        name: 'web',
        allow: ['get'],
        reach: { url: 'http://127.0.0.1:3000/mcp', token: 'sk-mine-0123' },
      },
    ])
  })

  test('collects the secrets to redact', () => {
    const secrets = new Secrets()
    const path = written('secret.json', {
      servers: [{ provider: 'a', base_url: 'http://a/v1', api_key_env: 'MINE' }],
      tools: [
        {
          name: 't',
          command: 'x',
          env: { DB_PASSWORD: 'hunter22', ROOT: '/srv/all' },
          allow: ['y'],
        },
      ],
    })
    read([...url, '--config', path], { ...environment, MINE: 'sk-mine-0123' }, secrets)
    expect(secrets.hide(`${token} sk-mine-0123 hunter22 /srv/all`)).toBe(
      '[secret] [secret] [secret] /srv/all',
    )
  })

  const tool = { name: 'files', command: 'x', allow: ['read'] }
  test.each<[string, object, string]>([
    ['an unknown field', { servres: [] }, 'servres'],
    ['a key in it', { servers: [{ provider: 'a', api_key: 'sk-hunter22' }] }, 'servers.0'],
    [
      'two keys',
      { servers: [{ provider: 'openai', api_key_env: 'A', api_key_file: 'b' }] },
      'two keys',
    ],
    [
      'a variable that is not set',
      { servers: [{ provider: 'openai', api_key_env: 'NONE' }] },
      'NONE',
    ],
    ['tools without a list', { tools: [{ name: 'a', command: 'x' }] }, 'tools.0.allow'],
    ['tools with an empty list', { tools: [{ ...tool, allow: [] }] }, 'tools.0.allow'],
    ['a name that cannot be announced', { tools: [{ ...tool, name: 'a b' }] }, 'tools.0.name'],
    ['two servers of one name', { tools: [tool, tool] }, 'would both be called files_read'],
    [
      'names that become one',
      { tools: [{ ...tool, allow: ['a.b', 'a/b'] }] },
      'both be called files_a_b',
    ],
    [
      'tools over plain http',
      { tools: [{ name: 'a', url: 'http://tools.example/', allow: ['b'] }] },
      'use https',
    ],
  ])('with %s is rejected', (_what, content, words) => {
    expect(() => fromFile(content)).toThrow(words)
    expect(() => fromFile(content)).toThrow(UsageError)
    expect(() => fromFile(content)).not.toThrow('hunter22')
  })

  test('is rejected without quoting it when it is missing or not JSON', () => {
    const path = written('broken.json', '{"token": "hunter22')
    expect(() => read([...url, '--config', path])).toThrow('is not valid JSON')
    expect(() => read([...url, '--config', path])).not.toThrow('hunter22')
    expect(() => read([...url, '--config', join(folder, 'none')])).toThrow('cannot be read')
  })
})

test('unknown options, and a missing address, are rejected', () => {
  expect(() => read(['--sreve', 'a'])).toThrow(UsageError)
  expect(() => read([])).toThrow('The address of Tollgate is missing')
  expect(readArguments(['-h'])).toBeUndefined()
})
