// Measures the in-process time of limits for a request: enter, reserve, adjust to actual usage, leave.
// Run by: npm run bench limits
import { type Principal } from '../server/src/auth/principal'
import { combineLimits } from '../server/src/limits/caller-limits'
import { RateLimits } from '../server/src/limits/limits'
import { MemoryCounters } from '../server/src/limits/memory-counters'

const accounts = 10_000
const requests = 500_000
const rounds = 5

const scope = (id: string) => ({
  id,
  requestsPerMinute: 1_000_000_000,
  tokensPerMinute: 2_000_000_000,
  imagesPerMinute: null,
  audioSecondsPerMinute: null,
  maxConcurrentRequests: 1000,
  monthlyRequests: null,
  monthlySpend: null,
})

const principals = Array.from({ length: accounts }, (_, number): Principal => ({
  keyId: `key_${number}`,
  keyPrefix: 'sk-tg-AAAAAA',
  logBodies: false,
  disabledUntilMs: null,
  accessLists: null,
  userId: `user_${number}`,
  accountId: `user_${number}`,
  permissions: ['write'],
  expiresAtMs: null,
  endsAtMs: null,
  limits: combineLimits([scope(`user_${number}`), scope(`key_${number}`)]),
}))

const limits = new RateLimits(new MemoryCounters())

async function run(): Promise<number> {
  const startedAt = performance.now()
  for (let count = 0; count < requests; count++) {
    const principal = principals[count % accounts]
    if (!principal) continue
    const admission = await limits.admit(principal)
    await admission.reserve(1000)
    admission.trueUp(500)
    admission.release()
  }
  return ((performance.now() - startedAt) * 1000) / requests
}

await run()
const figures: number[] = []
for (let round = 0; round < rounds; round++) figures.push(await run())
const median = figures.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN
console.log(`limits of account and key: ${median.toFixed(2)} µs a request, ${accounts} accounts`)
console.log(`memory: ${Math.round(process.memoryUsage.rss() / 1e6)} MB in all`)
