import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Browser } from '../../harness/browser-session'
import { operatorLink } from './operator-link'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

test('finding N9: a link that is opened under another name of the machine leads on under that name', async () => {
  const { pathname, search } = new URL(await operatorLink(gateway))
  const browser = new Browser(gateway)
  const headers = { host: '192.0.2.7:80' }
  const answer = await browser.send(`GET ${pathname}${search}`, undefined, headers)
  expect([answer.status, answer.location]).toEqual([302, '/'])
  expect((await browser.send('GET /api/admin/users')).status).toBe(200)
})

test.each(['https://evil.example/', '//evil.example/', '/.//evil.example/'])(
  'a link with the callback %s leads to no other site',
  async (to) => {
    const { pathname } = new URL(await operatorLink(gateway))
    const path = `${pathname}?token=x&callbackURL=${encodeURIComponent(to)}`
    const { location } = await new Browser(gateway).send(`GET ${path}`)
    expect(URL.parse(location ?? '', gateway.url)?.origin).toBe(gateway.url)
  },
)
