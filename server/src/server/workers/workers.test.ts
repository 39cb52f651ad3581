import { expect, test } from 'bun:test'
import { fitWorkers } from './workers'
import { readConfig } from '../../platform/config/config'

/** Returns how many workers start on a machine with 64 processors. */
function workersOn64(environment: Record<string, string>): number {
  const config = readConfig(environment)
  const isNumber = Number(environment['WORKERS']) > 0
  return fitWorkers({ ...config, workers: isNumber ? config.workers : 64 }).workers
}

test('as many workers start by themselves as the embedded database has connections for', () => {
  expect(workersOn64({})).toBe(6)
  expect(workersOn64({ WORKERS: 'auto' })).toBe(6)
  expect(workersOn64({ DATABASE_POOL_SIZE: '2' })).toBe(15)
  expect(workersOn64({ REDIS_URL: 'redis://localhost' })).toBe(7)
})

test('a number is kept, and rejected at the start if it is too large', () => {
  expect(workersOn64({ WORKERS: '20' })).toBe(20)
})

test('with a database that other nodes may share, workers start only on request', () => {
  const own = {
    DATABASE_URL: 'postgres://localhost/tollgate',
    ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
  }
  expect(workersOn64(own)).toBe(1)
  expect(workersOn64({ ...own, WORKERS: 'auto' })).toBe(64)
})
