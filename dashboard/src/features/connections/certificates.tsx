import { Badge, Group, Stack, Text } from '@mantine/core'
import type { Network } from './network-fields'
import { formatCount } from '../../format/figures'

type Certificate = NonNullable<Network['client_certificate']>

const dayMs = 86_400_000
const soonDays = 30
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

const daysUntil = (at: string) => Math.floor((Date.parse(at) - Date.now()) / dayMs)

/** Warns of a certificate that ends within 30 days; renders nothing before. */
function ExpiryBadge({ at, of = '' }: { at: string; of?: string }) {
  const left = daysUntil(at)
  if (left >= soonDays) return undefined
  const end = left > 0 ? `expires in ${formatCount(left, 'day')}` : 'expires within a day'
  const isOver = Date.parse(at) <= Date.now()
  return (
    <Badge color={isOver ? 'red' : 'orange'} variant="light" size="sm">
      {of} {isOver ? 'expired' : end}
    </Badge>
  )
}

/** Certificates by subject and end. */
export const CertificateList = ({ certificates }: { certificates: readonly Certificate[] }) => (
  <Stack gap={2}>
    {certificates.map(({ subject, expires_at: end, fingerprint }) => (
      <Group key={fingerprint} gap={6}>
        <Text size="sm" title={`SHA-256 ${fingerprint}`} style={{ overflowWrap: 'anywhere' }}>
          {subject}, until {days.format(new Date(end))}
        </Text>
        <ExpiryBadge at={end} />
      </Group>
    ))}
  </Stack>
)

/** Warns of the client certificate of a connection that ends soon. */
export const ClientCertificateWarning = ({ network }: { network: Network | null | undefined }) =>
  network?.client_certificate && (
    <ExpiryBadge at={network.client_certificate.expires_at} of="client certificate" />
  )
