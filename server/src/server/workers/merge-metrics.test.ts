import { expect, test } from 'bun:test'
import { mergeMetrics } from './merge-metrics'

const text = (value: number) => `# HELP tollgate_up Whether it runs.
# TYPE tollgate_up gauge
tollgate_up ${value}

# HELP tollgate_requests_total Requests.
# TYPE tollgate_requests_total counter
tollgate_requests_total{code="2xx",path="/v1/{a} b"} ${value}
tollgate_requests_total{} 7
`

test('each metric appears once, with the samples of all workers', () => {
  const merged = mergeMetrics(
    new Map([
      [1, text(1)],
      [3, text(5)],
    ]),
  )
  expect(merged).toBe(`# HELP tollgate_up Whether it runs.
# TYPE tollgate_up gauge
tollgate_up{worker="1"} 1
tollgate_up{worker="3"} 5

# HELP tollgate_requests_total Requests.
# TYPE tollgate_requests_total counter
tollgate_requests_total{worker="1",code="2xx",path="/v1/{a} b"} 1
tollgate_requests_total{worker="1"} 7
tollgate_requests_total{worker="3",code="2xx",path="/v1/{a} b"} 5
tollgate_requests_total{worker="3"} 7
`)
})

test('a metric that only one worker has is kept', () => {
  const other = '# HELP tollgate_odd Odd.\n# TYPE tollgate_odd gauge\ntollgate_odd 2\n'
  const merged = mergeMetrics(
    new Map([
      [1, text(1)],
      [2, other],
    ]),
  )
  expect(merged).toEndWith('tollgate_odd{worker="2"} 2\n')
  expect(mergeMetrics(new Map())).toBe('')
})
