import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, incidentsAt, planRequests, type SeedRequest } from './plan'

/** As many as the tests of the dashboard seed. */
const requests = 9000

/** The same hour of every day of two weeks: an installation is seeded on any of them. */
const days = Array.from({ length: 14 }, (_, day) => Date.UTC(2026, 11, 1 + day, 12))

function planAt(nowMs: number) {
  const toMs = nowMs - (nowMs % dayMs)
  const incidents = incidentsAt(nowMs)
  const planned = [...planRequests({ fromMs: toMs - 30 * dayMs, toMs, requests }, incidents)]
  return { incidents, planned }
}

const costOf = ({ model: { price }, input, output }: SeedRequest) =>
  input * price.input + output * price.output

describe.each(days)('a plan of %p', (nowMs) => {
  const { incidents, planned } = planAt(nowMs)

  test('has as many requests as were wanted, in the order of their times', () => {
    expect(planned).toHaveLength(requests)
    const times = planned.map(({ atMs }) => atMs)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
  })

  test('has its spike on the most expensive day of the organization that pays it', () => {
    const { spike } = incidents
    const byDay = new Map<number, number>()
    for (const request of planned) {
      const { person, atMs } = request
      if (!person.isFunded || person.organization !== spike.person.organization) continue
      const day = atMs - (atMs % dayMs)
      byDay.set(day, (byDay.get(day) ?? 0) + costOf(request))
    }
    const [[mostExpensive] = []] = [...byDay].toSorted(
      ([, cost], [, otherCost]) => otherCost - cost,
    )
    expect(mostExpensive).toBe(spike.fromMs - (spike.fromMs % dayMs))
  })

  test('has an hour in which more than half of the requests to one provider fail', () => {
    const { provider, fromMs } = incidents.outage
    const hit = planned.filter(
      ({ model, atMs }) => model.provider === provider && atMs >= fromMs && atMs < fromMs + hourMs,
    )
    const failed = hit.filter(({ outcome }) => outcome === 'provider_error')
    expect(hit.length).toBeGreaterThan(2)
    expect(failed.length / hit.length).toBeGreaterThan(0.5)
  })
})
