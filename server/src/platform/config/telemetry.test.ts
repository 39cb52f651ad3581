import { describe, expect, test } from 'bun:test'
import { readConfig } from './config'

describe('traces', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
  const tracing = (more: Record<string, string>) =>
    readConfig({ ...endpoint, ...more }).telemetry.tracing

  test('go nowhere without an address, or where they are switched off', () => {
    expect(readConfig({ OTEL_SERVICE_NAME: 'gate' }).telemetry.tracing).toBeUndefined()
    expect(tracing({ OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
    expect(tracing({})).toMatchObject({ ratio: 1, followsParent: true, propagatesTraces: false })
  })

  test.each([
    ['always_on', 1, false],
    ['always_off', 0, false],
    ['traceidratio', 0.25, false],
    ['parentbased_always_on', 1, true],
    ['parentbased_always_off', 0, true],
    ['parentbased_traceidratio', 0.25, true],
  ])('%s takes %d of them', (name, ratio, followsParent) => {
    const set = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.25' }
    expect(tracing(set)).toMatchObject({ ratio, followsParent })
  })
})

test('reads the address of metrics from the environment', () => {
  const { listener } = readConfig({ METRICS_PORT: '9464', METRICS_HOST: '10.0.0.1' }).telemetry
  expect(listener).toEqual({ port: 9464, host: '10.0.0.1' })
})
