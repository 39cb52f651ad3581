import { Button, Divider, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Problem } from '../../components/problem'
import { serviceQuery } from '../../api/installation'
import { otherServices, signIn, type OtherService } from '../../api/session'
import { useSubmit } from '../../components/use-submit'

const isKnown = (name: string): name is OtherService => Object.hasOwn(otherServices, name)

interface ServiceButton {
  service: OtherService | 'oidc' | 'saml'
  name: string
}

/** Buttons to sign in with the identity provider and other providers; renders nothing when none is configured. */
export function ServiceButtons() {
  const { data } = useQuery(serviceQuery)
  const { submit, isBusy, error } = useSubmit(async (service: ServiceButton['service']) => {
    const { url } = await signIn.withService(service)
    window.location.assign(url)
  })
  const provider = data?.auth.identity_provider
  const others = data?.auth.oauth_providers.filter(isKnown) ?? []
  const services: ServiceButton[] = [
    ...(provider ? [{ service: provider.protocol, name: provider.name }] : []),
    ...others.map((service) => ({ service, name: otherServices[service] })),
  ]
  if (services.length === 0) return undefined
  return (
    <Stack gap="sm">
      <Divider label="or" />
      <Problem error={error} />
      {services.map(({ service, name }) => (
        <Button
          key={service}
          variant="default"
          loading={isBusy}
          onClick={() => void submit(service)}
        >
          Continue with {name}
        </Button>
      ))}
    </Stack>
  )
}
