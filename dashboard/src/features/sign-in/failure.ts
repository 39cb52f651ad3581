const linkExpired = 'This link has expired. Sign in, or request a new one.'
const interrupted =
  'This sign-in took too long, or began in another browser. Start again with the button below.'

/** Messages of failed sign-ins, by the codes of the server and of the auth library. */
const failures: Readonly<Record<string, string>> = {
  email_not_verified:
    'The email address of that account is not confirmed. Open the link that we sent to it, or ask the operator of this service for one.',
  too_many_requests:
    'Too many sign-ins from your network within a few seconds. Wait a moment, then open the link again.',
  identity_provider_unavailable:
    'The sign-in service of your organization did not answer. Try again in a minute.',
  identity_provider_failed:
    'The answer of your organization’s sign-in service was not accepted. Start again; if it keeps failing, ask the operator of this service.',
  identity_provider_no_email:
    'Your organization’s sign-in service named no email address for your account. Ask its administrator to add one.',
  identity_provider_email_unverified:
    'Your organization’s sign-in service has not confirmed the email address of your account. Ask its administrator.',
  identity_provider_domain:
    'Email addresses of your domain cannot sign in with your organization’s sign-in service.',
  identity_provider_required:
    'Accounts of your domain sign in with your organization’s sign-in service only. Use its button below.',
  access_denied: 'The sign-in was cancelled, or your account there may not use this service.',
  SIGN_UP_CLOSED:
    'There is no account with your email address, and accounts are created by invitation only. Ask the operator of this service for one.',
  SUSPENDED: 'This account is suspended.',
  state_mismatch: interrupted,
  state_not_found: interrupted,
  issuer_mismatch: interrupted,
}

/** Explains a failed sign-in by its code. Most failures without a code of their own are links that were used. */
export const explainFailure = (code: string): string =>
  (Object.hasOwn(failures, code) ? failures[code] : undefined) ?? linkExpired
