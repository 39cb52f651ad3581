import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

const open = (accept: string) =>
  fetch(`${gateway.url}/api/auth/magic-link/verify?token=${crypto.randomUUID()}&callbackURL=%2F`, {
    headers: { accept },
    redirect: 'manual',
  })

test('finding B12: many people behind one address open their links within a minute; beyond the limit they see a page', async () => {
  const statuses: number[] = []
  for (let person = 0; person < 50; person++) statuses.push((await open('text/html')).status)
  expect([...new Set(statuses)]).toEqual([302])
  let answer = await open('text/html,*/*;q=0.8')
  for (let more = 0; more < 200 && !isRejected(answer); more++) {
    answer = await open('text/html,*/*;q=0.8')
  }
  expect([answer.status, answer.headers.get('location')]).toEqual([
    302,
    '/sign-in?error=too_many_requests',
  ])
  expect((await open('application/json')).status).toBe(429)
})

const isRejected = (answer: Response) =>
  answer.headers.get('location')?.includes('too_many_requests') === true
