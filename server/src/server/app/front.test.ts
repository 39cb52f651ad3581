import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { pino } from 'pino'
import { createFront } from './front'
import { invalidRequest } from '../../errors'
import { BodyBudget } from '../../http/body-budget'
import type { Env } from '../../http/env'
import { FormTurns } from '../../http/form-turns'
import { UploadCounts } from '../../http/upload-counts'
import { UploadDirectory } from '../../http/upload-directory'
import { EventLoopShares } from '../../limits/event-loop-shares'
import { modelRoute } from '../../v1/endpoint'

const megabyte = 1 << 20
const open = new DisposableStack()
afterEach(() => open.dispose())

const unused = (): never => {
  throw new Error('this test opens no sockets')
}

const dataDir = await mkdtemp(join(tmpdir(), 'front-'))
afterAll(() => rm(dataDir, { recursive: true }))
const directory = await UploadDirectory.open(dataDir)

/** A front with one model endpoint, whose large bodies take their room and are rejected. */
function rejectingFront() {
  const loopShares = open.use(new EventLoopShares())
  const bodies = open.use(new BodyBudget({ bytes: 64 * megabyte }))
  const { serve } = modelRoute({
    method: 'post',
    path: '/v1/test',
    access: { class: 'open', tenant: 'none' },
    operationId: 'test',
    tag: 'test',
    summary: 'Rejects',
    responses: {},
    handler: async (call) => {
      call.owner = 'acc_1'
      call.body = bodies.open('acc_1')
      await call.body.take(32 * megabyte)
      throw invalidRequest('user', 'too_long', 'Too long.')
    },
  })
  const app = new Hono<Env>().on('POST', '/v1/test', serve)
  const front = createFront(app, {
    sockets: { authenticate: unused },
    state: { isStopping: false },
    witness: {
      log: pino({ level: 'silent' }),
      logsRequests: false,
      counts: { countAnswer: () => undefined, countError: () => undefined },
    },
    bodies,
    uploads: { directory, budget: bodies, turns: new FormTurns(), counts: new UploadCounts() },
    overload: { refusal: () => undefined, onEnter: () => undefined, answered: () => undefined },
    loopShares,
  })
  return { front, bodies, loopShares }
}

test('H05: a rejected body leaves its room before its rejection is delayed', async () => {
  const { front, bodies, loopShares } = rejectingFront()
  const held: number[] = []
  spyOn(loopShares.shareOf('acc_1'), 'spend').mockImplementation(() => void held.push(bodies.bytes))
  const websocket = { message: unused }
  using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: front, websocket })
  const { status } = await fetch(new URL('/v1/test', server.url), { method: 'POST', body: '{}' })
  expect([status, held]).toEqual([400, [0]])
})
