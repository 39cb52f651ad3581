import { Button, ColorInput, Group, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { BrandingLook } from './branding-look'
import { admin, json } from '../../api'
import { changesOf } from '../../changes'
import { Card } from '../../components/card'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { Problem } from '../../components/problem'
import { useSubmit } from '../../submit'

const brandingQuery = queryOptions({
  queryKey: ['operator', 'branding'],
  queryFn: async () => (await admin.branding.$get()).json(),
})

type Branding = Awaited<ReturnType<NonNullable<typeof brandingQuery.queryFn>>>

export const BrandingPage = () => (
  <Page
    title="Branding"
    about="Name, logo and colours that /api/public/branding returns to pages and clients."
  >
    <Loaded query={useQuery(brandingQuery)}>
      {(branding) => <BrandingForm branding={branding} />}
    </Loaded>
  </Page>
)

const fieldsOf = (branding: Branding) => ({
  name: branding.name,
  tagline: branding.tagline ?? '',
  logo_url: branding.logo_url ?? '',
  favicon_url: branding.favicon_url ?? '',
  primary_color: branding.primary_color,
  secondary_color: branding.secondary_color,
  support_email: branding.support_email ?? '',
  terms_url: branding.terms_url ?? '',
  privacy_url: branding.privacy_url ?? '',
})

/** The branding as form fields: a missing value is an empty text. */
export type BrandingFields = ReturnType<typeof fieldsOf>

function BrandingForm({ branding }: { branding: Branding }) {
  const queries = useQueryClient()
  const before = fieldsOf(branding)
  const form = useForm({ initialValues: before })
  const { submit, isBusy, error } = useSubmit(async (fields: BrandingFields) => {
    const answer = await admin.branding.$put(undefined, json(changesOf(fields, before)))
    const kept = await answer.json()
    queries.setQueryData(brandingQuery.queryKey, kept)
    form.setInitialValues(fieldsOf(kept))
    form.setValues(fieldsOf(kept))
    notifications.show({ message: 'Saved. Other nodes follow within seconds.' })
  }, form)
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title="Identity">
        <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
          <Stack gap="sm">
            <Problem error={error} />
            <Fields form={form} />
            <Group>
              <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
                Save
              </Button>
              <Button variant="default" disabled={!form.isDirty()} onClick={form.reset}>
                Discard changes
              </Button>
            </Group>
          </Stack>
        </form>
      </Card>
      <BrandingLook fields={form.values} />
    </SimpleGrid>
  )
}

const Fields = ({ form }: { form: UseFormReturnType<BrandingFields> }) => (
  <>
    <TextInput label="Name" required maxLength={100} {...form.getInputProps('name')} />
    <TextInput label="Tagline" maxLength={200} {...form.getInputProps('tagline')} />
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <ColorInput
        label="Primary colour"
        required
        eyeDropperButtonProps={{ 'aria-label': 'Pick a colour from the screen' }}
        {...form.getInputProps('primary_color')}
      />
      <ColorInput
        label="Secondary colour"
        required
        eyeDropperButtonProps={{ 'aria-label': 'Pick a colour from the screen' }}
        {...form.getInputProps('secondary_color')}
      />
    </SimpleGrid>
    <TextInput label="Logo" type="url" maxLength={500} {...form.getInputProps('logo_url')} />
    <TextInput
      label="Favicon"
      description="Shown in browser tabs"
      type="url"
      maxLength={500}
      {...form.getInputProps('favicon_url')}
    />
    <TextInput
      label="Support email"
      type="email"
      maxLength={254}
      {...form.getInputProps('support_email')}
    />
    <TextInput label="Terms" type="url" maxLength={500} {...form.getInputProps('terms_url')} />
    <TextInput label="Privacy" type="url" maxLength={500} {...form.getInputProps('privacy_url')} />
  </>
)
