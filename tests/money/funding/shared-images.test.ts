import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFundingFixture, type FundingFixture } from './fixture'
import { sendRequest } from '../../harness/http'
import type { Customer } from '../../harness/server'

let on: FundingFixture

beforeAll(async () => {
  on = await createFundingFixture()
}, 60_000)
afterAll(async () => {
  on.fixture.gateway.recorder.verify()
  await on[Symbol.asyncDispose]()
})

test('3.1: the images of all members of an organization count together, as many as were made', async () => {
  const organization = await on.roomy()
  await organization.connection()
  const [member, other] = [await organization.member(), await organization.member()]
  const limits = { rate_limit_images_per_minute: 4 }
  await on.api(organization.owner, `PUT ${organization.path}`, limits)
  const { gateway, upstream } = on.fixture
  const pricing = { input: 0, output: 0, made_image: 0.001 }
  const model = 'fake/draw'
  await gateway.admin('POST', '/models', { id: model, name: model, category: 'image', pricing })
  upstream.answer = () => Response.json({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] })
  const draw = (by: Customer, n: number) =>
    sendRequest(gateway, {
      path: '/v1/images/generations',
      key: by.key,
      body: { model, prompt: 'A lighthouse', n },
    })
  // One of three was made.
  expect((await draw(member, 3)).status).toBe(200)
  expect((await draw(other, 2)).status).toBe(200)
  const { status, error } = await draw(other, 3)
  expect([status, error.code]).toEqual([429, 'images_per_minute_exceeded'])
  expect(error.details).toEqual({ limit: 4, used: 2 })
})
