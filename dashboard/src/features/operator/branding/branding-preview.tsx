import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import type { BrandingFields } from './branding-fields'
import { Card } from '../../../components/card'

const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text)
const isOwn = (address: string) => URL.parse(address)?.origin === location.origin

/** A live preview of the branding. */
export function BrandingLook({ fields }: { fields: BrandingFields }) {
  const links = [
    fields.support_email !== '' && `Support: ${fields.support_email}`,
    fields.terms_url !== '' && 'Terms',
    fields.privacy_url !== '' && 'Privacy',
  ].filter((label) => label !== false)
  return (
    <Card title="Preview">
      <Paper withBorder p="xl" aria-live="polite">
        <Stack gap="md" align="center">
          <Logo address={fields.logo_url} />
          <Text fw={700} size="xl" ta="center" style={{ overflowWrap: 'anywhere' }}>
            {fields.name}
          </Text>
          {fields.tagline !== '' && <Text ta="center">{fields.tagline}</Text>}
          <Button
            component="span"
            autoContrast
            {...(isColor(fields.primary_color) && { color: fields.primary_color })}
          >
            Button
          </Button>
          <Group gap="xs">
            <Swatch name="Primary" color={fields.primary_color} />
            <Swatch name="Secondary" color={fields.secondary_color} />
          </Group>
          {links.length > 0 && (
            <Text size="sm" c="dimmed" ta="center">
              {links.join(' · ')}
            </Text>
          )}
        </Stack>
      </Paper>
    </Card>
  )
}

function Logo({ address }: { address: string }) {
  if (address === '') return undefined
  if (isOwn(address)) return <img src={address} alt="Logo" style={{ maxHeight: 64 }} />
  return (
    <Text size="xs" c="dimmed" ta="center">
      The logo is not previewed: the dashboard loads no external content.
    </Text>
  )
}

const side = 16

const Swatch = ({ name, color }: { name: string; color: string }) => (
  <Group gap={6}>
    <span
      aria-hidden
      style={{
        width: side,
        height: side,
        borderRadius: 4,
        border: '1px solid var(--mantine-color-default-border)',
        ...(isColor(color) && { backgroundColor: color }),
      }}
    />
    <Text size="sm">
      {name} {color}
    </Text>
  </Group>
)
