import { seedModels, seedOrganizations, seedPeople, type SeedPerson } from './plan'
import { call, idIn } from '../harness/byok'
import type { Json } from '../harness/http'
import type { Customer, Gateway } from '../harness/server'

/** An account that was created for a person of the plan. */
export interface SeedAccount extends Customer {
  email: string
  /** The organization that pays its requests; null where it pays them itself. */
  payingOrganizationId: string | null
}

/** The accounts and organizations that were created. */
export interface SeededPeople {
  accounts: ReadonlyMap<SeedPerson, SeedAccount>
  /** Ids in the order of `seedOrganizations`. */
  organizationIds: readonly string[]
}

const usd = (price: number, percent: number) => (price * percent) / 100

/** Adds the providers and models of the plan, with the price that each provider bills. */
export async function addModels({ admin }: Gateway): Promise<void> {
  for (const key of new Set(seedModels.map(({ provider }) => provider))) {
    const name = key.replace(/^./, (letter) => letter.toUpperCase())
    const base_url = 'http://127.0.0.1:9/v1'
    await admin('POST', '/providers', { key, name, adapter: 'openai', base_url })
  }
  for (const { id, provider, price, costPercent } of seedModels) {
    const cost = { input: usd(price.input, costPercent), output: usd(price.output, costPercent) }
    const name = id.replace('/', ' ')
    await admin('POST', '/models', {
      id,
      name,
      provider,
      category: 'chat',
      context_length: 200_000,
      pricing: price,
      cost_pricing: cost,
    })
  }
}

/** Adds the people of the plan with a key and credits each, and their organizations with departments and credits. */
export async function addPeople(gateway: Gateway): Promise<SeededPeople> {
  const accounts = new Map<SeedPerson, SeedAccount>()
  for (const person of seedPeople) {
    const email = `${person.name.toLowerCase().replace(' ', '.')}@example.com`
    const user = { email, display_name: person.name, credit: 20_000 }
    const customer = await gateway.customer({ name: 'Backend', permissions: ['admin'] }, user)
    accounts.set(person, { ...customer, email, payingOrganizationId: null })
  }
  const organizationIds: string[] = []
  for (const [at, name] of seedOrganizations.entries()) {
    const people = [...accounts].filter(([person]) => person.organization === at)
    organizationIds.push(await addOrganization(gateway, name, people))
  }
  return { accounts, organizationIds }
}

async function addOrganization(
  gateway: Gateway,
  name: string,
  people: readonly (readonly [SeedPerson, SeedAccount])[],
): Promise<string> {
  const [[founder, owner] = []] = people
  if (!founder || !owner) throw new Error(`${name} has no people`)
  const ask = async (by: Customer, request: string, body: Json) => {
    const answer = await call(gateway, by, request, body)
    if (answer.status >= 400) throw new Error(`${request}: ${answer.text}`)
    return answer
  }
  const id = idIn(await ask(owner, 'POST /organizations', { name, is_public: true }))
  for (const [{ department }, account] of people) {
    if (account !== owner) await ask(account, `POST /organizations/${id}/join`, {})
    const role = account === owner ? {} : { status: 'active', role: 'developer' }
    const fields = { ...role, department: department ?? null }
    await ask(owner, `PUT /organizations/${id}/members/${account.userId}`, fields)
  }
  const grant = { organization_id: id, amount: 50_000, reason: 'Contract' }
  await gateway.admin('POST', '/credits/grant', grant)
  for (const [{ isFunded }, account] of people) {
    if (!isFunded) continue
    const settings = { funding_source: 'organization', funding_organization_id: id }
    await ask(account, 'PUT /account/settings', settings)
    account.payingOrganizationId = id
  }
  return id
}
