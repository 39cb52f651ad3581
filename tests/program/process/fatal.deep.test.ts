import { describe, expect, test, setDefaultTimeout } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { postgresOf } from './launch'
import { openDatabase } from '../../harness/database'
import { newChatClient } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { newDataDir, startGateway, startRig } from '../../harness/server'

// A busy machine takes long to start one.
setDefaultTimeout(90_000)

const preload = join(import.meta.dir, 'preloads/fault.ts')

describe.each(['throw', 'reject'])('L09: an unhandled fault (%s)', (fault) => {
  test('it accepts no new requests, ends its streams in order, and the next start books the rest', async () => {
    const dataDir = await newDataDir('started')
    const environment = { FAULT: fault, DRAIN_SECONDS: '8', LOG_LEVEL: 'warn' }
    await using rig = await startRig({ dataDir, environment, preload })
    const { chat, stream } = await newChatClient(rig)
    expect((await chat('ok')).status).toBe(200)
    const short = stream('held-10')
    const long = stream('chunks-999-gap-50')
    await eventually(() => rig.upstream.requests().length === 3 && rig.upstream.heldCount() === 1)
    process.kill(rig.gateway.pid, 'SIGUSR2')
    await eventually(() => rig.gateway.output().includes('a fault of the test'))
    rig.upstream.release()
    // A second one while it leaves changes nothing.
    process.kill(rig.gateway.pid, 'SIGUSR2')
    await eventually(() =>
      fetch(`${rig.gateway.url}/healthz`).then(
        () => false,
        () => true,
      ),
    )
    const [ended, cut] = await Promise.all([short, long])
    expect([ended.isDone, ended.error.code]).toEqual([true, undefined])
    expect([cut.isDone, cut.error.code]).toEqual([false, 'gateway_unavailable'])
    rig.gateway.recorder.verify()
    expect(await rig.gateway.exited).toBe(1)
    expect(rig.gateway.output()).toContain('a fault of the test')
    // Where the end takes longer than a fault allows, it does not wait for its PostgreSQL.
    await eventually(() => postgresOf(dataDir).length === 0)

    await using again = await startGateway({ dataDir })
    expect((await fetch(`${again.url}/readyz`)).status).toBe(200)
    await using sql = await openDatabase(dataDir)
    await waitUntilBooked(sql, 3)
    await expectSoundLedger(sql, { attempts: 3 })
    await again.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
})
