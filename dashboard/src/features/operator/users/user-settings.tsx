import { Anchor, Code, SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { OperatorRights } from './operator-rights'
import { Card } from '../../../components/card'
import { Facts } from '../../../components/facts'
import { Moment } from '../../../components/moment'
import { When } from '../../../components/when'
import { usd } from '../../../format/money'
import { operatedOneQuery } from '../organizations/queries'
import type { User } from './queries'

const yesNo = (value: boolean) => (value ? 'yes' : 'no')

/** An organization, by its name. */
function Organization({ id }: { id: string }) {
  const { data } = useQuery(operatedOneQuery(id))
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link to="/operator/organizations/$id" params={{ id }} search={{}} {...props} />
      )}
    >
      {data?.name ?? id}
    </Anchor>
  )
}

/** The settings the user has made, and operator access. */
export const UserSettings = ({ user }: { user: User }) => (
  <SimpleGrid cols={{ base: 1, md: 2 }}>
    <Card title="Account settings">
      <Facts facts={factsOf(user)} />
    </Card>
    <OperatorRights user={user} />
  </SimpleGrid>
)

const factsOf = (user: User) =>
  [
    ['ID', <Code key="id">{user.id}</Code>],
    ['Handle', user.handle ?? 'none'],
    [
      'Requests billed to',
      user.funding_organization_id === null ? (
        'the account'
      ) : (
        <Organization key="payer" id={user.funding_organization_id} />
      ),
    ],
    [
      'Primary organization',
      user.primary_organization_id === null ? (
        'none'
      ) : (
        <Organization key="primary" id={user.primary_organization_id} />
      ),
    ],
    ['Request bodies stored', yesNo(user.log_bodies)],
    [
      'Model names without a provider',
      user.bare_model_names === null ? 'as configured' : yesNo(user.bare_model_names),
    ],
    ['Payment method saved', yesNo(user.payment_method_saved)],
    [
      'Automatic recharge',
      user.auto_recharge.enabled
        ? `${usd(user.auto_recharge.amount)} below ${usd(user.auto_recharge.threshold)}`
        : 'disabled',
    ],
    ['Last active', <Moment key="active" at={user.last_active_at} />],
    ['Created', <When key="since" at={user.created_at} />],
  ] as const
