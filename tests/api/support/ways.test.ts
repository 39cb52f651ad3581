import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createSupportFixture, type SupportFixture } from './fixture'
import { problem } from '../../harness/byok'
import type { Json } from '../../harness/http'
import { problem as problemOf } from '../../harness/operator'

let desk: SupportFixture

beforeAll(async () => {
  desk = await createSupportFixture()
})
afterAll(() => desk[Symbol.asyncDispose]())
afterEach(() => desk.gateway.recorder.verify())

describe('a ticket goes its way', () => {
  test('user and support exchange comments, and the account is notified', async () => {
    const { id, owner } = await desk.opened()
    const question = await desk.comment(id, owner, 'It still does.')
    expect([question.status, question.body]).toEqual([
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
    expect(await desk.statusOf(id, owner)).toBe('open')
    const answered = await desk.operator(`POST /tickets/${id}/comments`, {
      content: 'Which model?',
    })
    expect([answered.status, answered.body]).toEqual([
      201,
      expect.objectContaining({ author: 'support', author_name: 'Support' }),
    ])
    expect(await desk.statusOf(id, owner)).toBe('in_progress')
    await desk.operator(`PUT /tickets/${id}`, { status: 'waiting_on_customer' })
    await desk.operator(`POST /tickets/${id}/comments`, { content: 'Are you there?' })
    expect(await desk.statusOf(id, owner)).toBe('waiting_on_customer')
    await desk.comment(id, owner, 'a/b')
    const { body } = await desk.api(`GET /support/tickets/${id}`, owner)
    expect(body).toMatchObject({
      status: 'in_progress',
      comment_count: 4,
      comments: ['It still does.', 'Which model?', 'Are you there?', 'a/b'].map((content) => ({
        content,
      })),
    })
    const notices = await desk.sql`
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
    const mails = await desk.sql`
      select mail.body from mail join users on email = recipient where users.id = ${owner.userId}
        and subject <> 'Your account is ready'
      order by mail.id`
    expect(mails.map((mail: { body: string }) => mail.body)).toEqual([
      'Help\n\nWhich model?\n',
      'Help\n\nAre you there?\n',
    ])
  })

  test('the owner can reopen a resolved ticket, and close it', async () => {
    const { id, owner } = await desk.opened()
    const resolved = await desk.change(id, owner, { status: 'resolved' })
    expect(resolved.body).toMatchObject({
      status: 'resolved',
      resolved_at: expect.any(String),
      closed_at: null,
    })
    await desk.comment(id, owner)
    expect(await desk.statusOf(id, owner)).toBe('open')
    await desk.change(id, owner, { status: 'resolved' })
    expect((await desk.change(id, owner, { status: 'open' })).body).toMatchObject({
      status: 'open',
      resolved_at: null,
    })
    await desk.change(id, owner, { status: 'resolved' })
    expect((await desk.change(id, owner, { status: 'closed' })).body).toMatchObject({
      status: 'closed',
      resolved_at: expect.any(String),
      closed_at: expect.any(String),
    })
  })

  test('a closed ticket accepts nothing but being opened again', async () => {
    const { id, owner } = await desk.opened()
    await desk.change(id, owner, { status: 'closed' })
    expect(problem(await desk.comment(id, owner))).toEqual([400, null, 'wrong_state'])
    expect(problem(await desk.change(id, owner, { subject: 'x' }))).toEqual([
      400,
      null,
      'wrong_state',
    ])
    expect(problem(await desk.change(id, owner, { status: 'resolved' }))).toEqual([
      400,
      'status',
      'wrong_state',
    ])
    const staff = `PUT /tickets/${id}`
    expect(problemOf(await desk.operator(staff, { status: 'open' }))).toEqual([
      400,
      'status',
      'wrong_state',
    ])
    expect(problemOf(await desk.operator(staff, { priority: 'low' }))).toEqual([
      400,
      null,
      'wrong_state',
    ])
    const made = await desk.operator(`POST /tickets/${id}/comments`, { content: 'x' })
    expect(problemOf(made)).toEqual([400, null, 'wrong_state'])
    const reopened = await desk.change(id, owner, { status: 'open', subject: 'Again' })
    expect(reopened.body).toMatchObject({ status: 'open', subject: 'Again', closed_at: null })
  })

  test('replaces a ticket that was not changed meanwhile', async () => {
    const { id, owner } = await desk.opened()
    const { body } = await desk.change(id, owner, {
      description: 'New',
      category: 'api',
      priority: 'low',
      status: 'closed',
    })
    const wanted = { description: 'New', category: 'api', priority: 'low', status: 'closed' }
    expect(body).toMatchObject(wanted)
    expect(problem(await desk.change(id, owner, { status: 'open', priority: 'x' }))[1]).toBe(
      'priority',
    )
    expect(await desk.statusOf(id, owner)).toBe('closed')
  })

  test('a week after it was resolved it is closed, and a month later for good', async () => {
    const { id, owner } = await desk.opened()
    await desk.change(id, owner, { status: 'resolved' })
    const age = (hours: number) => desk.sql`
      update ticket set resolved_at = now() - make_interval(hours => ${hours}) where id = ${id}`
    await age(7 * 24 - 1)
    expect(await desk.statusOf(id, owner)).toBe('resolved')
    await age(7 * 24 + 1)
    const { body } = await desk.api(`GET /support/tickets/${id}`, owner)
    const [resolvedAt, closedAt] = [body['resolved_at'], body['closed_at']].map((at) =>
      Date.parse(String(at)),
    )
    expect([body['status'], Number(closedAt) - Number(resolvedAt)]).toEqual([
      'closed',
      7 * 86_400_000,
    ])
    const { body: list } = await desk.api('GET /support/tickets?status=closed', owner)
    expect(list).toMatchObject({ tickets: [{ id, status: 'closed' }] })
    expect(problem(await desk.comment(id, owner))).toEqual([400, null, 'wrong_state'])
    expect((await desk.change(id, owner, { status: 'open' })).body).toMatchObject({
      status: 'open',
    })
    await desk.change(id, owner, { status: 'resolved' })
    await age(37 * 24 + 1)
    const late = await desk.change(id, owner, { status: 'open' })
    expect(problem(late)).toEqual([400, 'status', 'wrong_state'])
  })
})

describe('an operator', () => {
  test('finds tickets of all accounts', async () => {
    const subject = `Needle ${crypto.randomUUID()}`
    const { id, owner } = await desk.opened({ subject, priority: 'urgent', category: 'technical' })
    const { body: own } = await desk.api(`GET /support/tickets/${id}`, owner)
    const number = String(own['ticket_number'])
    const found = async (query: string) => {
      const { body } = await desk.operator(`GET /tickets?${query}`)
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
    expect(await found(`search=${search}&assignee_id=none`)).toEqual([id])
    const { body } = await desk.operator(`GET /tickets/${id}`)
    expect(body).toMatchObject({
      id,
      subject,
      user_id: owner.userId,
      email: expect.stringContaining('@example.com'),
      assignee_id: null,
      comments: [],
    })
    expect((await desk.operator('GET /tickets/ticket_nonsense')).status).toBe(404)
    expect((await desk.operator('PUT /tickets/ticket_nonsense', { status: 'open' })).status).toBe(
      404,
    )
    expect((await desk.operator('POST /tickets/x/comments', { content: 'x' })).status).toBe(404)
    expect((await desk.operator('GET /tickets?status=x')).status).toBe(400)
  })

  test('takes a ticket, and only for an operator', async () => {
    const { id, owner } = await desk.opened()
    const staff = await desk.gateway.customer({}, { credit: 0, is_operator: true })
    const put = (body: Json) => desk.operator(`PUT /tickets/${id}`, body)
    for (const assignee_id of [owner.userId, 'user_x']) {
      expect(problemOf(await put({ assignee_id }))).toEqual([400, 'assignee_id', 'unknown_value'])
    }
    const { body } = await put({ assignee_id: staff.userId })
    expect(body).toMatchObject({ assignee_id: staff.userId, status: 'in_progress' })
    const { body: listed } = await desk.operator(`GET /tickets?assignee_id=${staff.userId}`)
    expect(listed).toMatchObject({ tickets: [{ id }], pagination: { total: 1 } })
    const { body: left } = await desk.operator('GET /tickets?assignee_id=none&limit=100')
    expect(JSON.stringify(left)).not.toContain(id)
    expect((await put({ assignee_id: null })).body).toMatchObject({
      assignee_id: null,
      status: 'in_progress',
    })
    const { text } = await desk.api(`GET /support/tickets/${id}`, owner)
    expect(text).not.toContain('assignee')
  })

  test.each(['waiting_on_customer', 'open', 'closed', 'resolved', 'in_progress'] as const)(
    'sets a new ticket to %s as the states allow',
    async (to) => {
      const { id } = await desk.opened()
      const answer = await desk.operator(`PUT /tickets/${id}`, { status: to })
      const isStep = to !== 'waiting_on_customer'
      expect(answer.status).toBe(isStep ? 200 : 400)
    },
  )
})
