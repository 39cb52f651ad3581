import { codeOf, secretIn } from '../../server/testing/auth/authenticator-app'
import { password, type Browser } from './browser-session'

/** Enables a second factor for the account of a browser. */
export async function enableFactor(browser: Browser) {
  const { body } = await browser.send('POST /api/auth/two-factor/enable', { password })
  const secret = secretIn(body['totpURI'])
  const code = codeOf(secret)
  const confirmed = await browser.send('POST /api/auth/two-factor/verify-totp', { code })
  if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed.body))
  const backupCodes = Array.isArray(body['backupCodes']) ? body['backupCodes'].map(String) : []
  return { secret, backupCodes }
}
