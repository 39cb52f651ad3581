import { Button, Divider, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Problem } from '../../components/problem'
import { serviceQuery } from '../../api/installation'
import { otherServices, signIn, type OtherService } from '../../api/session'
import { useSubmit } from '../../components/use-submit'

const isKnown = (name: string): name is OtherService => Object.hasOwn(otherServices, name)

/** Buttons to sign in with other providers; renders nothing when none is configured. */
export function ServiceButtons() {
  const { data } = useQuery(serviceQuery)
  const { submit, isBusy, error } = useSubmit(async (service: OtherService) => {
    const { url } = await signIn.withService(service)
    window.location.assign(url)
  })
  const services = data?.auth.oauth_providers.filter(isKnown) ?? []
  if (services.length === 0) return undefined
  return (
    <Stack gap="sm">
      <Divider label="or" />
      <Problem error={error} />
      {services.map((service) => (
        <Button
          key={service}
          variant="default"
          loading={isBusy}
          onClick={() => void submit(service)}
        >
          Continue with {otherServices[service]}
        </Button>
      ))}
    </Stack>
  )
}
