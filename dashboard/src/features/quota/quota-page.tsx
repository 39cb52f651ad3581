import { Badge, Group, Modal, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { When } from '../../components/when'
import type { QuotaType } from '../../url/period'
import { describePaid } from '../../format/payer'
import { usd } from '../../format/money'
import { quotaQuery } from './queries'
import { History } from './quota-history'
import { Increase } from './request-increase-form'
import { OwnRequests } from './own-requests'
import { MemberQuotaBar, QuotaBar } from './quota-bar'

const route = getRouteApi('/home/quota')

export function QuotaPage() {
  const { increase } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(quotaQuery)
  const openRequest = (type: QuotaType | undefined) =>
    void navigate({ search: (now) => ({ ...now, increase: type }) })
  return (
    <Page title="Quota" about="Your limits and current usage.">
      <Loaded query={query}>
        {({ tier, quotas, organizations, usage_cost: cost, by_payer: paid, period }) => (
          <Paper withBorder p="lg" component="section" aria-label="Limits">
            <Stack gap="lg">
              <Group justify="space-between">
                <Title order={2} size="h4">
                  Limits
                </Title>
                <Badge variant="light" tt="none">
                  Plan: {tier}
                </Badge>
              </Group>
              {quotas.map((quota) => (
                <QuotaBar
                  key={quota.type}
                  quota={quota}
                  onIncrease={() => openRequest(quota.type)}
                />
              ))}
              {organizations.map((one) => (
                <MemberQuotaBar key={one.organization_id} quota={one} />
              ))}
              <Text size="sm">
                Your requests of this month cost {usd(cost)}
                {describePaid(paid) !== undefined && `: ${describePaid(paid)}`}.
              </Text>
              <Text size="xs" c="dimmed">
                Months are in UTC; the current one ends <When at={period.end} />.
              </Text>
            </Stack>
          </Paper>
        )}
      </Loaded>
      <OwnRequests />
      <History />
      <Modal
        opened={increase !== undefined && query.data !== undefined}
        onClose={() => openRequest(undefined)}
        title="Request a limit increase"
      >
        {increase && query.data && (
          <Increase
            type={increase}
            quotas={query.data.quotas}
            onClose={() => openRequest(undefined)}
          />
        )}
      </Modal>
    </Page>
  )
}
