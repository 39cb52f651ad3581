import { PermittedForms } from '../../../components/permitted'
import { ResourceForm } from '../../../components/resource-form'
import { Button, ColorInput, SimpleGrid, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { toBrandingFields, type Branding, type BrandingFields } from './branding-fields'
import { BrandingLook } from './branding-preview'
import { renameService } from '../../../api/installation'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { changedFields } from '../../../components/changed-fields'
import { Card } from '../../../components/card'
import { Loaded } from '../../../components/loaded'
import { Page } from '../../../components/page'
import { brandingQuery } from './queries'

export const BrandingPage = () => (
  <Page
    title="Branding"
    about="Name, logo and colors that /api/public/branding returns to pages and clients."
  >
    <Loaded query={useQuery(brandingQuery)}>
      {(branding) => <BrandingForm branding={branding} />}
    </Loaded>
  </Page>
)

function BrandingForm({ branding }: { branding: Branding }) {
  const queries = useQueryClient()
  const before = toBrandingFields(branding)
  const form = useForm({ initialValues: before })
  const save = async (fields: BrandingFields) => {
    const body = changedFields<Schemas['ChangedBranding']>(fields, before)
    const saved = await bodyOf(api.PUT('/api/admin/branding', { body }))
    queries.setQueryData(brandingQuery.queryKey, saved)
    renameService(queries, saved.name)
    form.setInitialValues(toBrandingFields(saved))
    form.setValues(toBrandingFields(saved))
    notifications.show({ message: 'Saved. Other nodes follow within seconds.' })
  }
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title="Identity">
        <PermittedForms to="PUT /api/admin/branding">
          {' '}
          <ResourceForm
            form={form}
            save={save}
            label="Save"
            actions={
              <>
                <Button variant="default" disabled={!form.isDirty()} onClick={form.reset}>
                  Discard changes
                </Button>
              </>
            }
          >
            <Fields form={form} />
          </ResourceForm>
        </PermittedForms>{' '}
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
        label="Primary color"
        required
        eyeDropperButtonProps={{ 'aria-label': 'Pick a color from the screen' }}
        {...form.getInputProps('primary_color')}
      />
      <ColorInput
        label="Secondary color"
        required
        eyeDropperButtonProps={{ 'aria-label': 'Pick a color from the screen' }}
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
