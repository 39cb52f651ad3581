import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { call, idIn, problem } from '../connections/stage'
import { openDatabase } from '../database'
import type { Answer, Json } from '../faults/asking'
import { ask as askOperator } from '../operator/calls'
import { startGateway, type Customer, type Gateway } from '../rig'

let gateway: Gateway
let customer: Customer
let stranger: Customer
let sql: Awaited<ReturnType<typeof openDatabase>>

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
  customer = await somebody()
  stranger = await somebody()
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
afterEach(() => gateway.recorder.verify())

const somebody = () => gateway.customer({}, { credit: 0, display_name: 'Ada' })
const api = (request: string, body?: Json, by = customer) => call(gateway, by, request, body)
const operator = (request: string, body?: Json) => askOperator(gateway, request, body)
const fields = (more: Json = {}): Json => ({ subject: 'Help', description: 'It broke.', ...more })
/** Each of an account of its own, as an account has twenty at most. */
async function opened(more: Json = {}) {
  const owner = await somebody()
  return { owner, id: idIn(await api('POST /support/tickets', fields(more), owner)) }
}
const change = (id: string, body: Json, by: Customer) => api(`PUT /support/tickets/${id}`, body, by)
const comment = (id: string, by: Customer, content = 'More.') =>
  api(`POST /support/tickets/${id}/comments`, { content }, by)
const statusOf = async (id: string, by: Customer) =>
  (await api(`GET /support/tickets/${id}`, undefined, by)).body['status']

test('a ticket is opened, with a number of its own', async () => {
  const { status, body } = await api('POST /support/tickets', fields({ subject: ' Help  ' }))
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
  const { body: next } = await api('POST /support/tickets', fields({ priority: 'urgent' }))
  expect(Number(String(next['ticket_number']).slice(4))).toBeGreaterThan(
    Number(String(body['ticket_number']).slice(4)),
  )
})

describe('is refused', () => {
  test.each<[Json, string, string]>([
    [{ subject: undefined }, 'subject', 'required'],
    [{ subject: ' ' }, 'subject', 'too_short'],
    [{ subject: 'x'.repeat(201) }, 'subject', 'too_long'],
    [{ description: undefined }, 'description', 'required'],
    [{ description: '' }, 'description', 'too_short'],
    [{ description: 'x'.repeat(10_001) }, 'description', 'too_long'],
    [{ category: 'sales' }, 'category', 'unknown_value'],
    [{ priority: 'asap' }, 'priority', 'unknown_value'],
    [{ request_id: 'nonsense' }, 'request_id', 'unknown_value'],
    [{ request_id: 'req_00000000000000000000000000' }, 'request_id', 'unknown_value'],
    [{ request_id: 7 }, 'request_id', 'wrong_type'],
  ])('%#: at %s, %s', async (more, param, issue) => {
    expect(problem(await api('POST /support/tickets', fields(more)))).toEqual([400, param, issue])
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ subject: null }, 'subject', 'wrong_type'],
    [{ status: 'in_progress' }, 'status', 'unknown_value'],
    [{ status: 'waiting_on_customer' }, 'status', 'unknown_value'],
    [{ request_id: 'x' }, null, 'empty'],
  ])('a change %j at %s: %s', async (body, param, issue) => {
    const { id, owner } = await opened()
    expect(problem(await change(id, body, owner))).toEqual([400, param, issue])
  })

  test.each<[Json, string]>([
    [{}, 'required'],
    [{ content: '' }, 'too_short'],
    [{ content: 'x'.repeat(10_001) }, 'too_long'],
  ])('a comment: %#, %s', async (body, issue) => {
    const { id, owner } = await opened()
    const answer = await api(`POST /support/tickets/${id}/comments`, body, owner)
    expect(problem(answer)).toEqual([400, 'content', issue])
  })

  test.each(['status', 'category', 'priority'])('a list with an unknown %s', async (name) => {
    const answer = await api(`GET /support/tickets?${name}=x`)
    expect(problem(answer)).toEqual([400, name, 'unknown_value'])
  })

  test('A01: without the permission', async () => {
    const reader = await gateway.customer({ permissions: ['read'] }, { credit: 0 })
    const writer = await gateway.customer({ permissions: ['write'] }, { credit: 0 })
    for (const request of [
      'POST /support/tickets',
      'PUT /support/tickets/x',
      'POST /support/tickets/x/comments',
    ]) {
      expect((await api(request, fields(), reader)).status).toBe(403)
    }
    for (const request of ['GET /support/tickets', 'GET /support/tickets/x']) {
      expect((await api(request, undefined, writer)).status).toBe(403)
    }
  })
})

test('A03: tickets of others are not there, and their requests cannot be named', async () => {
  const { id, owner } = await opened()
  for (const by of [stranger, customer]) {
    const { body: absent } = await api('GET /support/tickets/nonsense', undefined, by)
    for (const answer of [
      await api(`GET /support/tickets/${id}`, undefined, by),
      await change(id, { status: 'closed' }, by),
      await comment(id, by),
    ]) {
      expect([answer.status, answer.body]).toEqual([404, absent])
    }
  }
  expect(await statusOf(id, owner)).toBe('open')
  const logged = 'req_01000000000000000000000000'
  await logRequest(logged, owner)
  const foreign = await api('POST /support/tickets', fields({ request_id: logged }), stranger)
  expect(problem(foreign)).toEqual([400, 'request_id', 'unknown_value'])
  const own = await api('POST /support/tickets', fields({ request_id: logged }), owner)
  expect([own.status, own.body['request_id']]).toEqual([201, logged])
})

const logRequest = (id: string, { userId }: Customer) => sql`
  insert into request_log
    (id, started_at, user_id, method, endpoint, streamed, requested_model, model, status, status_code,
     latency_ms, input_tokens, output_tokens, estimated, cost, platform_fee, concurrent, ip_address,
     user_agent)
  values
    (${id}, now(), ${userId}, 'POST', '/v1/chat/completions', false, 'a/b', 'a/b', 'success', 200,
     1, 1, 1, false, 0, 0, 1, '127.0.0.1', 'test')`

test('tickets are listed without their comments, newest first, by what they are', async () => {
  const owner = await somebody()
  const made = async (more: Json) => idIn(await api('POST /support/tickets', fields(more), owner))
  const first = await made({ category: 'billing', priority: 'high' })
  const second = await made({ category: 'billing' })
  await change(second, { status: 'resolved' }, owner)
  await comment(first, owner)
  const ids = async (query: string) => {
    const { body } = await api(`GET /support/tickets?${query}`, undefined, owner)
    return Array.isArray(body['tickets']) ? body['tickets'].map(({ id }) => id) : body
  }
  expect(await ids('')).toEqual([second, first])
  expect(await ids('category=billing&priority=high')).toEqual([first])
  expect(await ids('status=resolved')).toEqual([second])
  expect(await ids('category=api')).toEqual([])
  const { body } = await api('GET /support/tickets?limit=1&offset=1', undefined, owner)
  expect(body).toMatchObject({
    tickets: [{ id: first, comment_count: 1 }],
    pagination: { total: 2, limit: 1, offset: 1, has_more: false },
  })
  expect(JSON.stringify(body)).not.toContain('"comments"')
})

describe('a ticket goes its way', () => {
  test('user and support talk, and the account is told', async () => {
    const { id, owner } = await opened()
    const asked = await comment(id, owner, 'It still does.')
    expect([asked.status, asked.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^comment_/),
        ticket_id: id,
        author: 'user',
        author_name: 'Ada',
        content: 'It still does.',
        created_at: expect.any(String),
      },
    ])
    expect(await statusOf(id, owner)).toBe('open')
    const answered = await operator(`POST /tickets/${id}/comments`, { content: 'Which model?' })
    expect([answered.status, answered.body]).toEqual([
      201,
      expect.objectContaining({ author: 'support', author_name: 'Support' }),
    ])
    expect(await statusOf(id, owner)).toBe('in_progress')
    await operator(`PUT /tickets/${id}`, { status: 'waiting_on_customer' })
    await operator(`POST /tickets/${id}/comments`, { content: 'Are you there?' })
    expect(await statusOf(id, owner)).toBe('waiting_on_customer')
    await comment(id, owner, 'a/b')
    const { body } = await api(`GET /support/tickets/${id}`, undefined, owner)
    expect(body).toMatchObject({
      status: 'in_progress',
      comment_count: 4,
      comments: ['It still does.', 'Which model?', 'Are you there?', 'a/b'].map((content) => ({
        content,
      })),
    })
    const notices = await sql`
      select kind, title, body, link from notification where user_id = ${owner.userId} order by id`
    expect([...notices]).toEqual(
      expect.arrayContaining([
        {
          kind: 'ticket_reply',
          title: `Support has answered ${String(body['ticket_number'])}`,
          body: 'Which model?',
          link: `/support/${id}`,
        },
      ]),
    )
    expect(notices).toHaveLength(2)
    const mails = await sql`
      select mail.body from mail join users on email = recipient where users.id = ${owner.userId}
      order by mail.id`
    expect(mails.map((mail: { body: string }) => mail.body)).toEqual([
      'Help\n\nWhich model?\n',
      'Help\n\nAre you there?\n',
    ])
  })

  test('what is resolved is opened again by its owner, who may close it too', async () => {
    const { id, owner } = await opened()
    const resolved = await change(id, { status: 'resolved' }, owner)
    expect(resolved.body).toMatchObject({
      status: 'resolved',
      resolved_at: expect.any(String),
      closed_at: null,
    })
    await comment(id, owner)
    expect(await statusOf(id, owner)).toBe('open')
    await change(id, { status: 'resolved' }, owner)
    expect((await change(id, { status: 'open' }, owner)).body).toMatchObject({
      status: 'open',
      resolved_at: null,
    })
    await change(id, { status: 'resolved' }, owner)
    expect((await change(id, { status: 'closed' }, owner)).body).toMatchObject({
      status: 'closed',
      resolved_at: expect.any(String),
      closed_at: expect.any(String),
    })
  })

  test('what is closed takes nothing but being opened again', async () => {
    const { id, owner } = await opened()
    await change(id, { status: 'closed' }, owner)
    expect(problem(await comment(id, owner))).toEqual([400, null, 'wrong_state'])
    expect(problem(await change(id, { subject: 'x' }, owner))).toEqual([400, null, 'wrong_state'])
    expect(problem(await change(id, { status: 'resolved' }, owner))).toEqual([
      400,
      'status',
      'wrong_state',
    ])
    const staff = `PUT /tickets/${id}`
    expect(staffProblem(await operator(staff, { status: 'open' }))).toEqual([
      400,
      'status',
      'wrong_state',
    ])
    expect(staffProblem(await operator(staff, { priority: 'low' }))).toEqual([
      400,
      null,
      'wrong_state',
    ])
    const said = await operator(`POST /tickets/${id}/comments`, { content: 'x' })
    expect(staffProblem(said)).toEqual([400, null, 'wrong_state'])
    const reopened = await change(id, { status: 'open', subject: 'Again' }, owner)
    expect(reopened.body).toMatchObject({ status: 'open', subject: 'Again', closed_at: null })
  })

  test('what nobody touched is changed as a whole', async () => {
    const { id, owner } = await opened()
    const { body } = await change(
      id,
      { description: 'New', category: 'api', priority: 'low', status: 'closed' },
      owner,
    )
    const wanted = { description: 'New', category: 'api', priority: 'low', status: 'closed' }
    expect(body).toMatchObject(wanted)
    expect(problem(await change(id, { status: 'open', priority: 'x' }, owner))[1]).toBe('priority')
    expect(await statusOf(id, owner)).toBe('closed')
  })

  test('a week after it was resolved it is closed, and a month later for good', async () => {
    const { id, owner } = await opened()
    await change(id, { status: 'resolved' }, owner)
    const age = (hours: number) => sql`
      update ticket set resolved_at = now() - make_interval(hours => ${hours}) where id = ${id}`
    await age(7 * 24 - 1)
    expect(await statusOf(id, owner)).toBe('resolved')
    await age(7 * 24 + 1)
    const { body } = await api(`GET /support/tickets/${id}`, undefined, owner)
    const [resolvedAt, closedAt] = [body['resolved_at'], body['closed_at']].map((at) =>
      Date.parse(String(at)),
    )
    expect([body['status'], Number(closedAt) - Number(resolvedAt)]).toEqual([
      'closed',
      7 * 86_400_000,
    ])
    const { body: list } = await api('GET /support/tickets?status=closed', undefined, owner)
    expect(list).toMatchObject({ tickets: [{ id, status: 'closed' }] })
    expect(problem(await comment(id, owner))).toEqual([400, null, 'wrong_state'])
    expect((await change(id, { status: 'open' }, owner)).body).toMatchObject({ status: 'open' })
    await change(id, { status: 'resolved' }, owner)
    await age(37 * 24 + 1)
    const late = await change(id, { status: 'open' }, owner)
    expect(problem(late)).toEqual([400, 'status', 'wrong_state'])
  })
})

const staffProblem = ({ status, error }: Awaited<ReturnType<typeof askOperator>>) => [
  status,
  error?.param,
  error?.details.issue,
]

describe('an operator', () => {
  test('finds tickets of all accounts', async () => {
    const subject = `Needle ${crypto.randomUUID()}`
    const { id, owner } = await opened({ subject, priority: 'urgent', category: 'technical' })
    const { body: own } = await api(`GET /support/tickets/${id}`, undefined, owner)
    const number = String(own['ticket_number'])
    const found = async (query: string) => {
      const { body } = await operator(`GET /tickets?${query}`)
      return Array.isArray(body['tickets']) ? body['tickets'].map((ticket) => ticket.id) : body
    }
    const search = encodeURIComponent(subject)
    expect(await found(`search=${search}`)).toEqual([id])
    expect(await found(`search=${number}`)).toEqual([id])
    expect(await found(`search=${search}&status=open&priority=urgent&category=technical`)).toEqual([
      id,
    ])
    expect(await found(`search=${search}&status=closed`)).toEqual([])
    expect(await found(`search=${search}&assignee_id=user_x`)).toEqual([])
    const { body } = await operator(`GET /tickets/${id}`)
    expect(body).toMatchObject({
      id,
      subject,
      user_id: owner.userId,
      email: expect.stringContaining('@example.com'),
      assignee_id: null,
      comments: [],
    })
    expect((await operator('GET /tickets/ticket_nonsense')).status).toBe(404)
    expect((await operator('PUT /tickets/ticket_nonsense', { status: 'open' })).status).toBe(404)
    expect((await operator('POST /tickets/x/comments', { content: 'x' })).status).toBe(404)
    expect((await operator('GET /tickets?status=x')).status).toBe(400)
  })

  test('takes a ticket, and only for an operator', async () => {
    const { id, owner } = await opened()
    const staff = await gateway.customer({}, { credit: 0, is_operator: true })
    const put = (body: Json) => operator(`PUT /tickets/${id}`, body)
    for (const assignee_id of [owner.userId, 'user_x']) {
      expect(staffProblem(await put({ assignee_id }))).toEqual([
        400,
        'assignee_id',
        'unknown_value',
      ])
    }
    const { body } = await put({ assignee_id: staff.userId })
    expect(body).toMatchObject({ assignee_id: staff.userId, status: 'in_progress' })
    const { body: listed } = await operator(`GET /tickets?assignee_id=${staff.userId}`)
    expect(listed).toMatchObject({ tickets: [{ id }], pagination: { total: 1 } })
    expect((await put({ assignee_id: null })).body).toMatchObject({
      assignee_id: null,
      status: 'in_progress',
    })
    const { text } = await api(`GET /support/tickets/${id}`, undefined, owner)
    expect(text).not.toContain('assignee')
  })

  test.each(['waiting_on_customer', 'open', 'closed', 'resolved', 'in_progress'] as const)(
    'sets a new ticket to %s as the states allow',
    async (to) => {
      const { id } = await opened()
      const answer = await operator(`PUT /tickets/${id}`, { status: to })
      const isStep = to !== 'waiting_on_customer'
      expect(answer.status).toBe(isStep ? 200 : 400)
    },
  )
})

describe('at once', () => {
  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

  test('an account has 20 open tickets at most, reopened ones too', async () => {
    const owner = await somebody()
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => api('POST /support/tickets', fields(), owner)),
    )
    expect(statuses(answers).filter((status) => status === 201)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(problem)).toEqual(Array(4).fill([400, null, 'limit_reached']))
    const [one, two] = answers.filter(({ status }) => status === 201).map(idIn)
    if (!one || !two) throw new Error('no tickets')
    await change(one, { status: 'resolved' }, owner)
    await change(two, { status: 'closed' }, owner)
    const made = [
      await api('POST /support/tickets', fields(), owner),
      await api('POST /support/tickets', fields(), owner),
    ]
    expect(statuses(made)).toEqual([201, 201])
    const reopened = [
      await comment(one, owner),
      await change(one, { status: 'open' }, owner),
      await change(two, { status: 'open' }, owner),
    ]
    expect(reopened.map(problem)).toEqual(Array(3).fill([400, null, 'limit_reached']))
  })

  test('closing and commenting: nothing is said after the end', async () => {
    for (let round = 0; round < 8; round++) {
      const { id, owner } = await opened()
      const [closed, ...said] = await Promise.all([
        change(id, { status: 'closed' }, owner),
        ...Array.from({ length: 4 }, () => comment(id, owner)),
        operator(`POST /tickets/${id}/comments`, { content: 'x' }),
      ])
      expect(closed.status).toBe(200)
      const accepted = said.filter(({ status }) => status === 201)
      expect(said.length - accepted.length).toBe(said.filter(({ status }) => status === 400).length)
      const { body } = await api(`GET /support/tickets/${id}`, undefined, owner)
      expect(body).toMatchObject({ status: 'closed', comment_count: accepted.length })
      // Times of a ticket are cut to milliseconds.
      const [late] = await sql`
        select count(*)::int as late from ticket_comment
        join ticket on ticket.id = ticket_id
        where ticket_id = ${id} and ticket_comment.created_at > closed_at + interval '1 ms'`
      expect(late).toEqual({ late: 0 })
    }
  })

  test('a ticket has 500 comments at most', async () => {
    const { id, owner } = await opened()
    await sql`update ticket set comment_count = 499 where id = ${id}`
    const answers = await Promise.all(Array.from({ length: 3 }, () => comment(id, owner)))
    expect(statuses(answers).toSorted()).toEqual([201, 400, 400])
    expect(answers.filter(({ status }) => status === 400).map(problem)).toEqual(
      Array(2).fill([400, null, 'limit_reached']),
    )
  })
})
