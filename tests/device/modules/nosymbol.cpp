// A library that is no module.
extern "C" int assay_modul();
int assay_modul() {
    return 1;
}
