import { describe, expect, test } from 'bun:test'
import { hidesCachedTokens, isSharedCredential } from './credential'

interface Use {
  mode: string
  owner: string | null
  organizationId?: string | null
  dialect?: 'openai' | 'sandbox'
}

const candidate = ({ mode, owner, organizationId = null, dialect = 'openai' }: Use) => ({
  billing: { mode, organizationId },
  provider: { dialect },
  connection: { owner, options: { hide_cached_tokens: true } },
})

describe('finding S26: the owner of the credential', () => {
  test.each<Use>([
    { mode: 'platform', owner: null },
    { mode: 'house', owner: null },
    { mode: 'free', owner: null },
    { mode: 'org_pays', owner: 'org_1', organizationId: 'org_1' },
    { mode: 'member_pays', owner: 'org_1', organizationId: 'org_1' },
    { mode: 'free', owner: 'org_1', organizationId: 'org_1' },
    { mode: 'platform', owner: null, organizationId: 'org_1' },
  ])('is shared: %j', (use) => {
    expect(isSharedCredential(candidate(use))).toBe(true)
    expect(hidesCachedTokens(candidate(use))).toBe(true)
  })

  test.each<Use>([
    { mode: 'byok', owner: 'usr_1' },
    // The model costs nothing; the connection is the account's all the same.
    { mode: 'free', owner: 'usr_1' },
    { mode: 'free', owner: null, dialect: 'sandbox' },
  ])('is not shared: %j', (use) => {
    expect(isSharedCredential(candidate(use))).toBe(false)
    expect(hidesCachedTokens(candidate(use))).toBe(false)
  })
})
