import { expect, test } from 'bun:test'
import { readConfig, StartError } from './config'

test.each([
  [{ PORT: 'http' }, 'PORT: must be a number'],
  [{ PORT: '80.5' }, 'PORT: must be a whole number'],
  [{ PORT: '65536' }, 'PORT: must be at most 65535'],
  [{ RETENTION_DAYS: '1' }, 'RETENTION_DAYS: must be at least 2'],
  [{ DRAIN_SECONDS: '0' }, 'DRAIN_SECONDS: must be more than 0'],
  [{ OTEL_SERVICE_NAME: 'x'.repeat(201) }, 'OTEL_SERVICE_NAME: must be at most 200 characters'],
  [{ SANDBOX: 'yes' }, 'SANDBOX: must be true or false'],
  [{ SIGNUP: 'yes' }, 'SIGNUP: must be one of open, invite, closed'],
])('%j is rejected in our own words: %s', (environment, words) => {
  expect(() => readConfig(environment)).toThrow(new StartError(words))
})
