import { expect, test } from 'bun:test'
import { findSecrets } from './secrets'

test('secrets of an environment are recognized: keys, passwords in addresses, headers', () => {
  const found = findSecrets({
    OPENAI_API_KEY: 'sk-canary-1',
    ADMIN_KEY: 'sixteen-letters!',
    ENCRYPTION_KEY: 'old:b2xkb2xkb2xk,new:bmV3bmV3bmV3',
    STRIPE_WEBHOOK_SECRET: 'whsec_old1,whsec_new1',
    DATABASE_URL: 'postgres://user:pass%2Fword@host/db',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-1',
    AWS_SECRET_ACCESS_KEY: 'short',
    PATH: '/usr/local/bin:/usr/bin',
    BASE_URL: 'https://gate.example',
  })
  expect(found).toEqual(
    expect.arrayContaining([
      'sk-canary-1',
      'sixteen-letters!',
      'b2xkb2xkb2xk',
      'whsec_new1',
      'pass%2Fword',
      'pass/word',
      'Bearer collector-1',
    ]),
  )
  expect(found.filter((one) => one === 'short' || one.includes('/usr'))).toEqual([])
})
