import { expect, test, setDefaultTimeout } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, toStream, type Json } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { newDataDir, startRig } from '../../harness/server'

// A busy machine takes long to start one.
setDefaultTimeout(90_000)

const hourMs = 3_600_000

test('T01 T02: a wall clock that jumps, or runs ahead, changes no answer, no charge and no expiry', async () => {
  const dataDir = await newDataDir()
  const clock = join(dataDir, 'clock-of-the-test')
  await writeFile(clock, '0')
  {
    await using rig = await startRig({
      dataDir,
      database: 'shared',
      preload: join(import.meta.dir, 'preloads/skewed-clock.ts'),
      environment: { CLOCK_FILE: clock, MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'warn' },
    })
    const { gateway } = rig
    const jump = async (ms: number) => {
      const warning = `the clock is wrong by ${ms} ms\n`
      const before = gateway.output().split(warning).length
      await writeFile(clock, String(ms))
      process.kill(gateway.pid, 'SIGUSR2')
      await eventually(() => gateway.output().split(warning).length > before)
    }
    // Little money, all of which is soon in one lease: a lease given up would be a refusal.
    const customer = await gateway.customer({}, { credit: 0.02 })
    const ended = await gateway.customer()
    // The key alone: what takes longer than its life cannot be created.
    const expires_at = new Date(Date.now() + 10_000).toISOString()
    const made = await gateway.admin('POST', `/users/${ended.userId}/keys`, {
      name: 'x',
      expires_at,
    })
    const endedKey = String(made['key'])
    const lasting = await gateway.customer({
      expires_at: new Date(Date.now() + hourMs).toISOString(),
    })
    const request = (key: string, name: string, fields: Json = {}) =>
      rig.model(name).then((model) =>
        // Past the recorder, which has a clock of its own.
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, messages, max_tokens: 300, ...fields }),
        }),
      )
    const statusOf = async (key: string) => {
      const response = await request(key, 'chunks-5')
      await response.text()
      return response.status
    }
    expect(await statusOf(customer.key)).toBe(200)
    await eventually(async () => (await statusOf(endedKey)) !== 200)
    expect(await statusOf(endedKey)).toBe(401)

    for (const ms of [90_000, -2 * hourMs, 2 * hourMs, 87_600 * hourMs, 0]) {
      const streaming = request(customer.key, 'held-40', { stream: true })
      await eventually(() => rig.upstream.heldCount() === 1)
      await jump(ms)
      rig.upstream.release()
      const response = await streaming
      const text = await response.text()
      const empty = { status: response.status, headers: response.headers, body: {}, error: {} }
      const stream = toStream({ ...empty, text, tookMs: 0 })
      expect([ms, stream.isDone]).toEqual([ms, true])
      const statuses = [
        await statusOf(customer.key),
        await statusOf(lasting.key),
        await statusOf(endedKey),
      ]
      expect([ms, ...statuses]).toEqual([ms, 200, 200, 401])
    }
    await using sql = await openDatabase(dataDir)
    await waitUntilBooked(sql, rig.upstream.requests().length)
    const rows: { duration_ms: number; first_token_ms: number | null }[] = await sql`
      select duration_ms, first_token_ms from usage_event`
    expect(rows.length).toBeGreaterThan(12)
    const wrong = rows.filter(
      ({ duration_ms, first_token_ms }) =>
        duration_ms < 0 || duration_ms > 60_000 || (first_token_ms ?? 0) < 0,
    )
    expect(wrong).toEqual([])
    await expectSoundLedger(sql, { attempts: rig.upstream.requests().length })
    expect((await sendRequest(gateway, { path: '/healthz', method: 'GET' })).status).toBe(200)
  }
  await rm(dataDir, { recursive: true, force: true })
})
