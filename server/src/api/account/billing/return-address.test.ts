import { expect, test } from 'bun:test'
import { checkReturnUrls } from './return-address'

const allowed = { ownAddress: 'https://ai.example/gate', origins: ['https://shop.example:8443'] }

test('by default it leads to the billing page, below the service’s path', () => {
  expect(checkReturnUrls({}, allowed)('cs_1')).toEqual({
    success: 'https://ai.example/gate/billing?checkout=cs_1',
    cancel: 'https://ai.example/gate/billing',
  })
})

test('it leads to this service and to allowed origins as they were named', () => {
  const wishes = {
    success_url: 'https://shop.example:8443/done?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://ai.example/',
  }
  expect(checkReturnUrls(wishes, allowed)('cs_1')).toEqual({
    success: wishes.success_url,
    cancel: wishes.cancel_url,
  })
})

test.each([
  'https://shop.example/',
  'http://ai.example/gate',
  'https://ai.example.evil.example/',
  'https://ai.example@evil.example/',
  'https://evil.example/https://ai.example/',
  '//evil.example/',
  '/billing',
  'javascript:alert(1)//https://ai.example/',
  'data:text/html,hello',
])('%s is rejected', (address) => {
  expect(() => checkReturnUrls({ success_url: address }, allowed)).toThrow('success_url')
  expect(() => checkReturnUrls({ cancel_url: address }, allowed)).toThrow('cancel_url')
})
