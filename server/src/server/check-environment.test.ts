import { expect, test } from 'bun:test'
import { checkProviderVariables, findMisspelt } from './check-environment'
import { StartError } from '../platform/config/config'
import { providers } from '../providers/registry'
import { baseUrlVariable } from '../providers/define-provider'

const check = (source: Record<string, string>) => () => checkProviderVariables(source, providers)

test.each(providers.map(({ key }) => baseUrlVariable(key)))('N5: %s must be a URL', (name) => {
  for (const bad of [
    'nonsense',
    'api.example.com/v1',
    'ftp://example.com',
    'https://',
    'localhost:80',
  ]) {
    expect(check({ [name]: bad })).toThrow(StartError)
    expect(check({ [name]: bad })).toThrow(`${name}: must be an http or https URL`)
  }
  expect(check({ [name]: 'https://user:secret@example.com' })).toThrow('without user and password')
  expect(check({ [name]: 'http://127.0.0.1:9/v1' })).not.toThrow()
  expect(check({ [name]: '' })).not.toThrow()
})

test('N5: the options of a provider are checked where its key is set', () => {
  const withOptions = providers.filter(({ optionVariables }) => optionVariables)
  expect(withOptions.length).toBeGreaterThan(0)
  for (const { keyVariables, optionVariables = {} } of withOptions) {
    const [key] = keyVariables
    for (const variable of Object.values(optionVariables)) {
      const bad = { [variable]: 'no such/place?' }
      expect(check(bad)).not.toThrow()
      if (key) expect(check({ ...bad, [key]: 'a-key' })).toThrow(`${variable}: must be`)
    }
  }
})

test.each([
  ['OPNEAI_API_KEY', 'OPENAI_API_KEY'],
  ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
  ['OPENAI_API_KYE', 'OPENAI_API_KEY'],
  ['ANTROPIC_API_KEY', 'ANTHROPIC_API_KEY'],
  ['DATABASE_ULR', 'DATABASE_URL'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['STRIPE_WEBHOK_SECRET', 'STRIPE_WEBHOOK_SECRET'],
  ['RETENTION_DAY', 'RETENTION_DAYS'],
  ['REQUEST_TIMEOUT_SECOND', 'REQUEST_TIMEOUT_SECONDS'],
])('N5: %s is taken for a misspelt %s', (name, meant) => {
  const [problem, ...more] = findMisspelt({ [name]: 'a-secret-value' }, providers)
  expect(more).toEqual([])
  expect(problem).toContain(`Did you mean ${meant}?`)
  expect(problem).not.toContain('a-secret')
})

test('N5: known, empty and foreign variables are not mentioned', () => {
  const usual = `HOME PATH PWD SHELL USER LANG TERM HOSTNAME LOGNAME EDITOR PAGER DISPLAY TMPDIR OLDPWD SHLVL
    TZ LC_ALL XDG_RUNTIME_DIR SSH_AUTH_SOCK NODE_ENV NODE_OPTIONS NODE_PATH npm_config_cache INIT_CWD COLOR
    CI DEBUG DOCKER_HOST KUBERNETES_SERVICE_HOST KUBERNETES_PORT KUBERNETES_SERVICE_PORT INVOCATION_ID
    JOURNAL_STREAM NOTIFY_SOCKET SYSTEMD_EXEC_PID PGHOST PGPORT PGUSER POSTGRES_PASSWORD POSTGRES_DB
    AWS_PROFILE AWS_DEFAULT_REGION AWS_CONFIG_FILE GITHUB_TOKEN GH_TOKEN GITHUB_SHA GITHUB_REF
    FAL_API_KEY TAVILY_API_KEY SERPER_API_KEY E2B_API_KEY PINECONE_API_KEY QDRANT_URL GOOGLE_CLOUD_PROJECT
    TOLLGATE_PORT TOLLGATE_SERVICE_HOST TOLLGATE_PORT_8080_TCP MEMORY_LIMIT DATABASE_NAME REDIS_HOST
    SMTP_HOST SMTP_PORT BASE_PATH METRICS_PATH`
  const source = Object.fromEntries(usual.split(/\s+/).map((name) => [name, 'x']))
  expect(findMisspelt(source, providers)).toEqual([])
  expect(findMisspelt({ OPNEAI_API_KEY: '', OPENAI_API_KEY: 'x', PORT: '1' }, providers)).toEqual(
    [],
  )
})
