-- concurrently
create index concurrently esims_by_service_end on esims (service_ends_at) where service_ends_at is not null;
