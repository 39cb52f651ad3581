import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { fields, createSupportFixture, statuses, times, type SupportFixture } from './fixture'
import { idIn, problem } from '../../harness/byok'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

let desk: SupportFixture
let customer: Customer
let stranger: Customer

beforeAll(async () => {
  desk = await createSupportFixture()
  customer = await desk.newCustomer()
  stranger = await desk.newCustomer()
})
afterAll(() => desk[Symbol.asyncDispose]())
afterEach(() => desk.gateway.recorder.verify())

test('a ticket is opened, with a number of its own', async () => {
  const { status, body } = await desk.api(
    'POST /support/tickets',
    customer,
    fields({ subject: ' Help  ' }),
  )
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^ticket_[0-9a-z]{26}$/),
      ticket_number: expect.stringMatching(/^TKT-\d{6,}$/),
      subject: 'Help',
      description: 'It broke.',
      category: 'other',
      priority: 'medium',
      status: 'open',
      request_id: null,
      comments: [],
      comment_count: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      resolved_at: null,
      closed_at: null,
    },
  ])
  const { body: next } = await desk.api(
    'POST /support/tickets',
    customer,
    fields({ priority: 'urgent' }),
  )
  expect(Number(String(next['ticket_number']).slice(4))).toBeGreaterThan(
    Number(String(body['ticket_number']).slice(4)),
  )
})

describe('is rejected', () => {
  test.each<[string, string, Json]>([
    ['subject', 'required', { subject: undefined }],
    ['subject', 'too_short', { subject: ' ' }],
    ['subject', 'too_long', { subject: 'x'.repeat(201) }],
    ['description', 'required', { description: undefined }],
    ['description', 'too_short', { description: '' }],
    ['description', 'too_long', { description: 'x'.repeat(10_001) }],
    ['category', 'unknown_value', { category: 'sales' }],
    ['priority', 'unknown_value', { priority: 'asap' }],
    ['request_id', 'unknown_value', { request_id: 'nonsense' }],
    ['request_id', 'unknown_value', { request_id: 'req_00000000000000000000000000' }],
    ['request_id', 'wrong_type', { request_id: 7 }],
  ])('a ticket at %s: %s (case %#)', async (param, issue, more) => {
    expect(problem(await desk.api('POST /support/tickets', customer, fields(more)))).toEqual([
      400,
      param,
      issue,
    ])
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ subject: null }, 'subject', 'wrong_type'],
    [{ status: 'in_progress' }, 'status', 'unknown_value'],
    [{ status: 'waiting_on_customer' }, 'status', 'unknown_value'],
    [{ request_id: 'x' }, null, 'empty'],
  ])('a change %j, with param %p: %s', async (body, param, issue) => {
    const { id, owner } = await desk.opened()
    expect(problem(await desk.change(id, owner, body))).toEqual([400, param, issue])
  })

  test.each<[string, Json]>([
    ['required', {}],
    ['too_short', { content: '' }],
    ['too_long', { content: 'x'.repeat(10_001) }],
  ])('a comment: %s (case %#)', async (issue, body) => {
    const { id, owner } = await desk.opened()
    const answer = await desk.api(`POST /support/tickets/${id}/comments`, owner, body)
    expect(problem(answer)).toEqual([400, 'content', issue])
  })

  test.each(['status', 'category', 'priority'])('a list with an unknown %s', async (name) => {
    const answer = await desk.api(`GET /support/tickets?${name}=x`, customer)
    expect(problem(answer)).toEqual([400, name, 'unknown_value'])
  })

  test('A01: without the permission', async () => {
    const reader = await desk.gateway.customer({ permissions: ['read'] }, { credit: 0 })
    const writer = await desk.gateway.customer({ permissions: ['write'] }, { credit: 0 })
    for (const request of [
      'POST /support/tickets',
      'PUT /support/tickets/x',
      'POST /support/tickets/x/comments',
    ]) {
      expect((await desk.api(request, reader, fields())).status).toBe(403)
    }
    for (const request of ['GET /support/tickets', 'GET /support/tickets/x']) {
      expect((await desk.api(request, writer)).status).toBe(403)
    }
  })
})

test('A03: tickets of others are 404, and their requests cannot be named', async () => {
  const { id, owner } = await desk.opened()
  for (const by of [stranger, customer]) {
    const { body: absent } = await desk.api('GET /support/tickets/nonsense', by)
    for (const answer of [
      await desk.api(`GET /support/tickets/${id}`, by),
      await desk.change(id, by, { status: 'closed' }),
      await desk.comment(id, by),
    ]) {
      expect([answer.status, answer.body]).toEqual([404, absent])
    }
  }
  expect(await desk.statusOf(id, owner)).toBe('open')
  const logged = 'req_01000000000000000000000000'
  await logRequest(logged, owner)
  const foreign = await desk.api('POST /support/tickets', stranger, fields({ request_id: logged }))
  expect(problem(foreign)).toEqual([400, 'request_id', 'unknown_value'])
  const own = await desk.api('POST /support/tickets', owner, fields({ request_id: logged }))
  expect([own.status, own.body['request_id']]).toEqual([201, logged])
})

const logRequest = (id: string, { userId }: Customer) => desk.sql`
  insert into request_log
    (id, started_at, user_id, method, endpoint, streamed, requested_model, model, status, status_code,
     latency_ms, input_tokens, output_tokens, estimated, cost, platform_fee, concurrent, ip_address,
     user_agent)
  values
    (${id}, now(), ${userId}, 'POST', '/v1/chat/completions', false, 'a/b', 'a/b', 'success', 200,
     1, 1, 1, false, 0, 0, 1, '127.0.0.1', 'test')`

test('tickets are listed without their comments, newest first, by their fields', async () => {
  const owner = await desk.newCustomer()
  const made = async (more: Json) =>
    idIn(await desk.api('POST /support/tickets', owner, fields(more)))
  const first = await made({ category: 'billing', priority: 'high' })
  const second = await made({ category: 'billing' })
  await desk.change(second, owner, { status: 'resolved' })
  await desk.comment(first, owner)
  const ids = async (query: string) => {
    const { body } = await desk.api(`GET /support/tickets?${query}`, owner)
    return Array.isArray(body['tickets']) ? body['tickets'].map(({ id }) => id) : body
  }
  expect(await ids('')).toEqual([second, first])
  expect(await ids('category=billing&priority=high')).toEqual([first])
  expect(await ids('status=resolved')).toEqual([second])
  expect(await ids('category=api')).toEqual([])
  const { body } = await desk.api('GET /support/tickets?limit=1&offset=1', owner)
  expect(body).toMatchObject({
    tickets: [{ id: first, comment_count: 1 }],
    pagination: { total: 2, limit: 1, offset: 1, has_more: false },
  })
  expect(JSON.stringify(body)).not.toContain('"comments"')
})

describe('at once', () => {
  test('an account has 20 open tickets at most, reopened ones too', async () => {
    const owner = await desk.newCustomer()
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => desk.api('POST /support/tickets', owner, fields())),
    )
    expect(statuses(answers).filter((status) => status === 201)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(problem)).toEqual(times(4, [400, null, 'limit_reached']))
    const [one, two] = answers.filter(({ status }) => status === 201).map(idIn)
    if (!one || !two) throw new Error('no tickets')
    await desk.change(one, owner, { status: 'resolved' })
    await desk.change(two, owner, { status: 'closed' })
    const made = [
      await desk.api('POST /support/tickets', owner, fields()),
      await desk.api('POST /support/tickets', owner, fields()),
    ]
    expect(statuses(made)).toEqual([201, 201])
    const reopened = [
      await desk.comment(one, owner),
      await desk.change(one, owner, { status: 'open' }),
      await desk.change(two, owner, { status: 'open' }),
    ]
    expect(reopened.map(problem)).toEqual(times(3, [400, null, 'limit_reached']))
  })

  test('closing and commenting: no comment follows the end', async () => {
    for (let round = 0; round < 8; round++) {
      const { id, owner } = await desk.opened()
      const [closed, ...commented] = await Promise.all([
        desk.change(id, owner, { status: 'closed' }),
        ...Array.from({ length: 4 }, () => desk.comment(id, owner)),
        desk.operator(`POST /tickets/${id}/comments`, { content: 'x' }),
      ])
      expect(closed.status).toBe(200)
      const accepted = commented.filter(({ status }) => status === 201)
      expect(commented.length - accepted.length).toBe(
        commented.filter(({ status }) => status === 400).length,
      )
      const { body } = await desk.api(`GET /support/tickets/${id}`, owner)
      expect(body).toMatchObject({ status: 'closed', comment_count: accepted.length })
      // Times of a ticket are cut to milliseconds.
      const [late] = await desk.sql`
        select count(*)::int as late from ticket_comment
        join ticket on ticket.id = ticket_id
        where ticket_id = ${id} and ticket_comment.created_at > closed_at + interval '1 ms'`
      expect(late).toEqual({ late: 0 })
    }
  })

  test('a ticket has 500 comments at most', async () => {
    const { id, owner } = await desk.opened()
    await desk.sql`update ticket set comment_count = 499 where id = ${id}`
    const answers = await Promise.all(Array.from({ length: 3 }, () => desk.comment(id, owner)))
    expect(statuses(answers).toSorted((one, other) => one - other)).toEqual([201, 400, 400])
    expect(answers.filter(({ status }) => status === 400).map(problem)).toEqual(
      times(2, [400, null, 'limit_reached']),
    )
  })
})
