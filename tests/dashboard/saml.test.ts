import { expect, test } from 'bun:test'
import { startBrowser } from './browser'
import { createSamlFixture } from '../api/sign-in/saml-fixture'

test('the button of the sign-in page leads to the identity provider over SAML', async () => {
  await using fixture = await createSamlFixture()
  const browser = await startBrowser()
  const page = await browser.newPage()
  const requestedUrl = Promise.withResolvers<URL>()
  await page.route('https://login.example.com/**', async (route) => {
    requestedUrl.resolve(new URL(route.request().url()))
    await route.fulfill({ body: 'stands for the provider' })
  })
  await page.goto(`${fixture.gateway.url.replace('127.0.0.1', 'localhost')}/sign-in`)
  await page.getByRole('button', { name: 'Continue with Example Login' }).click()
  const { pathname, searchParams } = await requestedUrl.promise
  expect([pathname, searchParams.has('SAMLRequest')]).toEqual(['/saml/sign-in', true])
  await browser.close()
})
